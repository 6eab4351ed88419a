import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const generator = fileURLToPath(new URL('../records/generate.mjs', import.meta.url));

it('the addon and the TypeScript agree on the records: both come from records/table.mjs', () => {
  const { status, stderr } = spawnSync(process.execPath, [generator, '--check'], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});
