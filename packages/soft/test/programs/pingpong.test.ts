import { expect, test } from 'vitest';
import { runPair } from './pair.js';

interface Case {
  name: string;
  args: string[];
  bytes: number; // of one message
  iterations: number;
}

const rc = 'ibv_rc_pingpong';
const uc = 'ibv_uc_pingpong';
const ud = 'ibv_ud_pingpong';
const srq = 'ibv_srq_pingpong';

test.each<Case>([
  { name: rc, args: ['-c'], bytes: 4096, iterations: 1000 },
  { name: rc, args: ['-c', '-e'], bytes: 4096, iterations: 1000 },
  { name: rc, args: ['-c', '-s', '1048576', '-n', '100'], bytes: 1048576, iterations: 100 },
  { name: rc, args: ['-c', '-e', '-s', '1048576', '-n', '100'], bytes: 1048576, iterations: 100 },
  { name: rc, args: ['-c', '-m', '256', '-s', '70001', '-n', '100'], bytes: 70001, iterations: 100 },
  // Memory on demand (-o), the whole address space (-O), prefetched (-P); the extended post calls (-N).
  { name: rc, args: ['-c', '-o'], bytes: 4096, iterations: 1000 },
  { name: rc, args: ['-c', '-o', '-O'], bytes: 4096, iterations: 1000 },
  { name: rc, args: ['-c', '-o', '-P', '-e'], bytes: 4096, iterations: 1000 },
  { name: rc, args: ['-c', '-N'], bytes: 4096, iterations: 1000 },
  // Time stamps (-t), device memory (-j).
  { name: rc, args: ['-c', '-t', '-N'], bytes: 4096, iterations: 1000 },
  { name: rc, args: ['-j'], bytes: 4096, iterations: 1000 },
  { name: uc, args: ['-c'], bytes: 4096, iterations: 1000 },
  { name: uc, args: ['-c', '-e'], bytes: 4096, iterations: 1000 },
  { name: uc, args: ['-c', '-s', '20001', '-n', '100'], bytes: 20001, iterations: 100 },
  { name: ud, args: ['-c'], bytes: 1024, iterations: 1000 },
  { name: ud, args: ['-c', '-e'], bytes: 1024, iterations: 1000 },
  { name: srq, args: ['-c'], bytes: 4096, iterations: 1000 },
  { name: srq, args: ['-c', '-e'], bytes: 4096, iterations: 1000 },
  { name: srq, args: ['-c', '-o', '-q', '4'], bytes: 4096, iterations: 1000 },
])('$name -g 0 $args', async ({ name, args, bytes, iterations }) => {
  for (const { status, stdout, stderr } of await runPair(name, args)) {
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    // Each direction counts.
    expect(stdout).toContain(`${2 * bytes * iterations} bytes in `);
    expect(stdout).toContain(`${iterations} iters in `);
    expect(stdout).not.toMatch(/invalid data/);
  }
});

// It prints no figures.
test.each([[[]], [['-e']], [['-s', '70001', '-n', '100']]])('ibv_xsrq_pingpong -g 0 %j', async (args) => {
  for (const { status, stdout, stderr } of await runPair('ibv_xsrq_pingpong', args)) {
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/success/);
  }
});
