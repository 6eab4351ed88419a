import { expect, it } from 'vitest';
import { spawnUnderLoad } from '../../core/test/shared/processes.js';

it('programs are started while workers open and close devices', async () => {
  const churn = new URL('programs/churn.mjs', import.meta.url);
  expect(await spawnUnderLoad(churn, '')).toEqual({ started: 200, busy: true });
}, 120_000);
