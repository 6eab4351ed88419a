// A fresh clone of this checkout in a root: the two commands of the README, with what that release has.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root as checkout } from '../../../tools/setup/src/paths.mjs';

/** @import { Result } from './checks.mjs' */
/** @import { Release } from './releases.mjs' */
/** @import { Root } from './root.mjs' */

/** What the README asks for beside Node, and git for the clone. */
const needed = 'git g++ make nodejs npm python3';

/**
 * Commands of the README, one after the other in one fresh clone, as a reader of it types them.
 * @param {Root} root
 * @param {Release} release
 * @param {'checkout' | 'tests'} check the first command, or both
 * @returns {Result}
 */
export function checkCheckout(root, { suite }, check) {
  const commands = check === 'tests' ? 'npm run demo && npm test' : 'npm run demo';
  // Debian 12 has Node 18; this machine's own set-up is that test.
  if (suite === 'bookworm') return { check, text: "its Node is older than the packages' least", failures: [] };
  const folder = mkdtempSync(join(tmpdir(), 'verbs-checkout-'));
  const started = Date.now();
  try {
    const script = [
      `export DEBIAN_FRONTEND=noninteractive HOME=${folder} NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt`,
      `apt-get -q install -y ${needed}`,
      `git -c safe.directory='*' clone -q ${checkout} ${folder}/verbs`,
      `cd ${folder}/verbs`,
      commands,
    ].join(' && ');
    const [program, ...args] = root.enter('sh', '-c', script);
    // It takes long: its output is there while it runs.
    const { status } = spawnSync(program ?? '', args, { stdio: ['ignore', 2, 2] });
    const text = `${commands}: exit ${String(status)} after ${Math.round((Date.now() - started) / 1000)} s`;
    return { check, text, failures: status === 0 ? [] : [text] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
