import { expect, it } from 'vitest';
import { failuresShortOfMemory, spawnUnderLoad } from '../shared/processes.js';

it('a process at its memory limit gets ENOMEM, and everything again without the limit', async () => {
  const ways = new URL('../programs/short-memory-ways.mjs', import.meta.url);
  const out = 'VerbsError ENOMEM';
  expect(await failuresShortOfMemory(ways, 'soft0')).toEqual({ cq: out, qp: out, srq: out, mr: out, resized: out });
}, 120_000);

it('programs are started while workers open and close devices', async () => {
  const churn = new URL('../programs/churn.mjs', import.meta.url);
  expect(await spawnUnderLoad(churn, 'soft0')).toEqual({ started: 200, busy: true });
}, 120_000);
