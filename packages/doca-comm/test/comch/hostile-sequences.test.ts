import { fileURLToPath } from 'node:url';
import { it } from 'vitest';
import { expectHostileShare } from '../../../core/test/shared/hostile-share.js';

it('every call of random hostile sequences returns or throws what is promised, and nothing is left over', async () => {
  // Within the process: what devices share with others stays with them, and is none of the objects'.
  await expectHostileShare(fileURLToPath(new URL('../programs/hostile.mjs', import.meta.url)), {
    VERBS_SOFT_LINK: 'auto',
  });
}, 300_000);
