import { fileURLToPath } from 'node:url';
import { it } from 'vitest';
import { expectHostileShare } from '../../../core/test/shared/hostile-share.js';

it('every call of random hostile sequences returns or throws what is promised, and nothing is left over', async () => {
  await expectHostileShare(fileURLToPath(new URL('../programs/hostile.mjs', import.meta.url)));
}, 300_000);
