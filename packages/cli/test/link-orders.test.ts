import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { verbs } from './verbs.js';

// Each library of the directory that `verbs run` gives a program finds its own symbols, wherever it stands among the others.

const SOURCE = `
#include <infiniband/mlx5dv.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>

int main(void) {
  struct rdma_event_channel *channel = rdma_create_event_channel();
  struct rdma_cm_id *id = NULL;
  const int created = channel ? rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) : -1;
  printf("channel %d id %d", channel != NULL, created);
  int count = 0;
  struct ibv_device **list = ibv_get_device_list(&count);
  for (int i = 0; i < count; ++i) {
    struct ibv_context *context = ibv_open_device(list[i]);
    struct mlx5dv_context attr = {0};
    const int queried = context ? mlx5dv_query_device(context, &attr) : -1;
    printf(" %s %d %d", ibv_get_device_name(list[i]), mlx5dv_is_supported(list[i]), queried);
    if (context) ibv_close_device(context);
  }
  ibv_free_device_list(list);
  if (id) rdma_destroy_id(id);
  if (channel) rdma_destroy_event_channel(channel);
  puts("");
  return 0;
}
`;

const LIBRARIES = ['libibverbs.so.1', 'librdmacm.so.1', 'libmlx5.so.1'];

function ordersOf(names: readonly string[]): string[][] {
  if (names.length === 0) return [[]];
  return names.flatMap((first) => ordersOf(names.filter((name) => name !== first)).map((rest) => [first, ...rest]));
}

let folder: string;
let dropIn: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'verbs-orders-'));
  writeFileSync(join(folder, 'orders.c'), SOURCE);
  execFileSync('gcc', ['-c', '-o', join(folder, 'orders.o'), join(folder, 'orders.c')]);
  // The directory is gone with the command, and the next one has another of the same names.
  const { stdout } = await verbs([
    'run',
    '--',
    'sh',
    '-c',
    'echo "$LD_LIBRARY_PATH" && cp -rL "$LD_LIBRARY_PATH" "$0"',
    folder,
  ]);
  dropIn = join(folder, stdout.trim().split('/').at(-1) ?? '');
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

// libhbl is in the way as well, in front and behind.
it.each(
  ordersOf(LIBRARIES).flatMap((order) => [
    [...order, 'libhbl.so.1'],
    ['libhbl.so.1', ...order],
  ]),
)('linked with %s, %s, %s, %s', async (...order) => {
  const program = join(folder, order.join('-'));
  const libraries = order.map((name) => `-l:${name}`);
  execFileSync('gcc', [
    ...['-o', program, join(folder, 'orders.o'), `-L${dropIn}`, `-Wl,-rpath-link,${dropIn}`],
    ...['-Wl,--no-as-needed', ...libraries],
  ]);
  const devices = ['--device', 'soft0', '--device', 'mlx5_soft0,kind=mlx5'];
  const { status, stdout, stderr } = await verbs(['run', ...devices, '--', program]);
  expect({ status, stdout, stderr }).toEqual({
    ...{ status: 0, stderr: '' },
    stdout: 'channel 1 id 0 soft0 0 95 mlx5_soft0 1 0\n',
  });
});
