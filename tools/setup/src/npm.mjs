import { dirname, join } from 'node:path';
import process from 'node:process';
import { existsSync } from 'node:fs';
import { cacheEnvironment } from './caches.mjs';
import { Problem } from './problem.mjs';
import { mustRun, which } from './shell.mjs';

/**
 * Runs npm: the one that started us, else the one beside the running node, else the one on PATH.
 * @param {string[]} args
 */
export function npm(args) {
  const [program, first] = find();
  mustRun(program, [...first, ...args, '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'], {
    env: { ...process.env, ...cacheEnvironment() },
  });
}

/** @returns {[string, string[]]} */
function find() {
  const running = process.env['npm_execpath'];
  if (running?.endsWith('npm-cli.js') === true && existsSync(running)) return [process.execPath, [running]];
  const beside = join(dirname(process.execPath), 'npm');
  if (existsSync(beside)) return [beside, []];
  const found = which('npm');
  if (found === undefined) throw new Problem('npm not found; it comes with Node, so install Node with its npm');
  return [found, []];
}
