import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, toolsDirectory } from './paths.mjs';
import { npm } from './npm.mjs';
import { Problem } from './problem.mjs';
import { say } from './say.mjs';

const home = join(toolsDirectory, 'pnpm');

/** The folder with the program `pnpm`, for PATH. */
export const pnpmBin = join(home, 'node_modules/.bin');

/** Fetches the pnpm that package.json pins, for this checkout alone. */
export function getPnpm() {
  const version = pinnedVersion();
  if (installedVersion() === version) {
    say('pnpm', `${version} is there`);
    return;
  }
  say('pnpm', `fetching ${version} into .tools/`);
  mkdirSync(home, { recursive: true });
  npm(['install', '--prefix', home, '--no-save', '--no-package-lock', '--ignore-scripts', `pnpm@${version}`]);
}

function pinnedVersion() {
  const manifest = /** @type {{ packageManager: string }} */ (
    JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  );
  const version = /^pnpm@(\d+\.\d+\.\d+)/.exec(manifest.packageManager)?.[1];
  if (version === undefined)
    throw new Problem(`packageManager in package.json is '${manifest.packageManager}', not pnpm@x.y.z`);
  return version;
}

function installedVersion() {
  const path = join(home, 'node_modules/pnpm/package.json');
  if (!existsSync(path)) return undefined;
  const manifest = /** @type {{ version: string }} */ (JSON.parse(readFileSync(path, 'utf8')));
  return manifest.version;
}
