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
 * @param {Root} root
 * @param {Release} release
 * @returns {Result}
 */
export function checkCheckout(root, { suite }) {
  // Debian 12 has Node 18; this machine's own set-up is that test.
  if (suite === 'bookworm')
    return { check: 'checkout', text: "its Node is older than the packages' least", failures: [] };
  const folder = mkdtempSync(join(tmpdir(), 'verbs-checkout-'));
  const started = Date.now();
  try {
    const script = [
      `export DEBIAN_FRONTEND=noninteractive HOME=${folder} NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt`,
      `apt-get -q install -y ${needed}`,
      `git -c safe.directory='*' clone -q ${checkout} ${folder}/verbs`,
      `cd ${folder}/verbs`,
      'npm run demo',
    ].join(' && ');
    const [program, ...args] = root.enter('sh', '-c', script);
    const { status, stdout, stderr } = spawnSync(program ?? '', args, { encoding: 'utf8', maxBuffer: 1 << 28 });
    const text = `npm run demo: exit ${String(status)} after ${Math.round((Date.now() - started) / 1000)} s`;
    const last = `${stdout}\n${stderr}`.trim().split('\n').slice(-12).join('\n');
    return { check: 'checkout', text, failures: status === 0 ? [] : [last] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
