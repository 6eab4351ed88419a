// Before a package is packed or published: one without its native files cannot be loaded anywhere.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const folder = join(process.cwd(), 'prebuilds');
const targets = existsSync(folder) ? readdirSync(folder) : [];
if (!targets.some((target) => readdirSync(join(folder, target)).some((file) => file.endsWith('.node')))) {
  console.error(`${folder} has no prebuilt files, without which the package cannot be loaded: npm run prebuilds`);
  process.exitCode = 1;
}
