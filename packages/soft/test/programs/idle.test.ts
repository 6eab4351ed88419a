import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { freePort, type Program, startOnSoft } from './program.js';

const TRAFFIC = fileURLToPath(new URL('../icrc/traffic.py', import.meta.url));

/** What a process has used of the processors, all of its threads, in clock ticks (10 ms). */
function cpuTicks({ process }: Program): number {
  const stat = readFileSync(`/proc/${String(process.pid)}/stat`, 'utf8');
  // Behind the name, which may hold anything, follows field 3; utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

/** What it uses while nothing happens. How long that really is does not matter, as long as it is not shorter. */
async function ticksOfAnIdleSecond(program: Program): Promise<number> {
  const before = cpuTicks(program);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return cpuTicks(program) - before;
}

test('a program that waits for asynchronous events uses no processor', async () => {
  const program = startOnSoft('ibv_asyncwatch', ['-d', 'soft0']);
  await program.printed(/async event FD/);
  expect(await ticksOfAnIdleSecond(program)).toBeLessThanOrEqual(3);
});

test('a server with a queue pair that waits for its client uses no processor', async () => {
  const program = startOnSoft('ibv_rc_pingpong', ['-g', '0', '-p', String(await freePort())]);
  await program.printed(/local address/);
  expect(await ticksOfAnIdleSecond(program)).toBeLessThanOrEqual(3);
});

test('a program with connected queue pairs that has polled before uses no processor', async () => {
  const devices = 'soft0,link=udp;soft1,link=udp';
  const program = startOnSoft('/usr/bin/python3', [TRAFFIC, 'soft0', 'soft1', 'rc', 'pause'], devices);
  await program.printed(/pausing/);
  expect(await ticksOfAnIdleSecond(program)).toBeLessThanOrEqual(3);
});
