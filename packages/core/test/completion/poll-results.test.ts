import { expect, it } from 'vitest';
import { CompletionBatch } from '../../src/index.js';
import { fakeLibrary, openThrough } from '../helpers/fake-library.js';

/** A library whose devices poll with a constant result and write no completion. 95 is rdma-core's stub (EOPNOTSUPP). */
const polling = (result: number) => ({
  source: `#include <dlfcn.h>
#include <infiniband/verbs.h>
static int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *completions) { return ${result}; }
struct ibv_context *ibv_open_device(struct ibv_device *device) {
  void *soft = dlopen(SOFT, RTLD_NOW);
  struct ibv_context *(*open)(struct ibv_device *) = dlvsym(soft, "ibv_open_device", "IBVERBS_1.1");
  struct ibv_context *context = open(device);
  if (context) context->ops.poll_cq = poll_cq;
  return context;
}
`.replace(/^/, '#define _GNU_SOURCE\n'),
  exports: { version: 'IBVERBS_1.1', functions: ['ibv_open_device'] },
});

it.each([
  [95, 'EOPNOTSUPP'],
  [65, 'EIO'],
  [0x7fffffff, 'EIO'],
  [-1, 'EIO'],
])('a poll that reports %i completions of at most 64 is an error, and nothing is written', async (result, code) => {
  using ctx = openThrough(fakeLibrary(polling(result)));
  const cq = ctx.createCq(256, { channel: ctx.createCompChannel() });
  const failed = expect.objectContaining({ code, syscall: 'ibv_poll_cq' }) as Error;
  for (const max of [1, 16, 64, 1000]) expect(() => cq.poll(max)).toThrow(failed);
  for (const capacity of [1, 64, 256]) {
    const batch = new CompletionBatch(capacity);
    expect(() => cq.pollBatch(batch)).toThrow(failed);
    expect(batch).toHaveLength(0);
  }
  await expect(cq.wait()).rejects.toThrow(failed);
});

it('a poll that reports more completions than were asked for is an error', () => {
  using ctx = openThrough(fakeLibrary(polling(2)));
  const cq = ctx.createCq(256);
  const failed = expect.objectContaining({ code: 'EIO', syscall: 'ibv_poll_cq' }) as Error;
  expect(() => cq.poll(1)).toThrow(failed);
  expect(() => cq.pollBatch(new CompletionBatch(1))).toThrow(failed);
});
