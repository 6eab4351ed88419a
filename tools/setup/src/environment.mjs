import { realpathSync } from 'node:fs';
import { dirname, join, delimiter } from 'node:path';
import process from 'node:process';
import { cacheEnvironment } from './caches.mjs';
import { nodeHeaders } from './node-headers.mjs';
import { root } from './paths.mjs';
import { pnpmBin } from './pnpm.mjs';
import { Problem } from './problem.mjs';
import { outputOf, which } from './shell.mjs';

/**
 * The environment that every build and test runs in: the pinned pnpm and the project's programs on PATH, the headers
 * of the running Node for node-gyp, and the compiler's name in turbo's hash.
 * @returns {NodeJS.ProcessEnv}
 */
export function projectEnvironment() {
  const headers = nodeHeaders();
  if (headers === undefined) throw new Problem('the headers of Node are not there yet; run `npm run setup` first');
  return {
    ...process.env,
    ...cacheEnvironment(),
    PATH: [pnpmBin, join(root, 'node_modules/.bin'), ...ownNode(), process.env['PATH'] ?? ''].join(delimiter),
    npm_config_nodedir: headers,
    // Otherwise node-gyp prints every argument of its Python.
    npm_config_loglevel: 'warn',
    // pnpm asks before it replaces node_modules, and there may be nobody to answer.
    npm_config_confirm_modules_purge: 'false',
    TURBO_TELEMETRY_DISABLED: '1',
    DO_NOT_TRACK: '1',
    VERBS_TOOLCHAIN: toolchain(),
  };
}

/** The folder of the running node, if another one is found first: addons must be built for the one that runs them. */
function ownNode() {
  const first = which('node');
  const same = first !== undefined && realpathSync(first) === realpathSync(process.execPath);
  return same ? [] : [dirname(process.execPath)];
}

/** The inputs of a build besides the sources: a cache without them would return wrong results. */
function toolchain() {
  const compiler = outputOf(process.env['CXX'] ?? 'g++', ['--version'])?.split('\n')[0] ?? 'unknown compiler';
  const verbs = outputOf('dpkg-query', ['-W', '-f', '${Version}', 'libibverbs-dev']) ?? 'unknown libibverbs';
  return `${compiler}; libibverbs ${verbs}; node ${process.versions.node} ${process.arch}`;
}
