import { expect, test } from 'vitest';
import { script } from './helpers/program.js';

test('endpoints that nobody closed are freed by garbage collection, and their peers hear of it', async () => {
  const program = script('abandon.mjs', []);
  expect([await program.ended, program.output()]).toEqual([0, '1 left, which is open\n']);
}, 60_000);

test('clients in worker threads; what a thread leaves open ends with it', async () => {
  const program = script('workers.mjs', []);
  const lines = ['closes', 'returns', 'waits'].map((end) => `a worker that ${end}\n`);
  expect([await program.ended, program.output()]).toEqual([0, `${lines.join('')}3 lost\n`]);
}, 60_000);
