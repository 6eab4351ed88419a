import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { packageDirectories, root } from './paths.mjs';
import { say } from './say.mjs';
import { mustRun } from './shell.mjs';

const stamp = join(root, 'node_modules/.verbs-setup');

/**
 * Installs node_modules exactly as the lockfile says, if a manifest or the lockfile changed since the last time.
 * @param {NodeJS.ProcessEnv} env
 */
export function installDependencies(env) {
  const fingerprint = manifestHash();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint) {
    say('node_modules', 'as the lockfile says');
    return;
  }
  say('node_modules', 'installing as the lockfile says');
  mustRun('pnpm', ['install', '--frozen-lockfile', '--reporter=append-only'], { env });
  writeFileSync(stamp, fingerprint);
}

/** One hash over all that decides node_modules. */
function manifestHash() {
  const files = [
    ...['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'].map((name) => join(root, name)),
    ...packageDirectories().map((directory) => join(directory, 'package.json')),
  ];
  const hash = createHash('sha256').update(process.versions.node);
  for (const file of files) hash.update(file).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}
