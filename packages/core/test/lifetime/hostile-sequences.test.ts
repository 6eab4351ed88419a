import { it } from 'vitest';
import { programPath } from '../helpers/program.js';
import { expectHostileShare } from '../shared/hostile-share.js';

it('every call of random hostile sequences returns or throws what is promised, and nothing is left over', async () => {
  await expectHostileShare(programPath('hostile.mjs'));
}, 300_000);
