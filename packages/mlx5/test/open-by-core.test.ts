import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it("openDevice of @verbs/core finds the model's device by its name", () => {
  const program = fileURLToPath(new URL('programs/open-by-core.mjs', import.meta.url));
  const env = { ...process.env, VERBS_SOFT: '' };
  const { stdout, stderr } = spawnSync(process.execPath, [program], { env, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({ before: ['soft0'], name: 'mlx5_soft0', vendorId: 0x02c9 });
});
