import { expect, it } from 'vitest';
import { failuresShortOfMemory, spawnUnderLoad } from '../../core/test/shared/processes.js';

it('a process at its memory limit gets ENOMEM, and everything again without the limit', async () => {
  const ways = new URL('programs/short-memory-ways.mjs', import.meta.url);
  expect(await failuresShortOfMemory(ways, 'mlx5_soft0,kind=mlx5')).toEqual({ rawQp: 'VerbsError ENOMEM' });
}, 120_000);

it('programs are started while workers open and close devices', async () => {
  const churn = new URL('programs/churn.mjs', import.meta.url);
  expect(await spawnUnderLoad(churn, 'mlx5_soft0,kind=mlx5')).toEqual({ started: 200, busy: true });
}, 120_000);
