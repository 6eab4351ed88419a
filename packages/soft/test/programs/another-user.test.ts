// Programs of two users want one address: the second one is refused, and its user reads why. The second user is uid nobody,
// for which the test has to be root.
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dropInDirectory } from '../../src/index.js';
import { describe as describeOutcome, Program, startIn } from './program.js';

const built = join(import.meta.dirname, '../../../rdmacm/build/lib');
const asNobody = ['--reuid', 'nobody', '--regid', 'nogroup', '--clear-groups'];
const address = `127.205.${String((process.pid >> 8) & 255)}.${String(process.pid & 255)}`;
const configuration = `soft0,addr=${address}`;
const taken = `verbs: device soft0: the address ${address} is taken: `;

/** Only root can become somebody else. */
function whyNot(): string | undefined {
  if (process.geteuid?.() !== 0) return 'not root';
  const { error, status, stderr } = spawnSync('setpriv', [...asNobody, 'true'], { encoding: 'utf8' });
  return error?.message ?? (status === 0 ? undefined : stderr);
}

const reason = whyNot();

describe.skipIf(reason !== undefined)(`another user${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  let own = '';
  /** A copy that everybody can read, as an installed package. */
  let copy = '';

  beforeAll(() => {
    const library = join(built, 'libverbs-soft-rdmacm.so.1');
    if (!existsSync(library)) throw new Error(`${library} is not built: npm run setup`);
    own = dropInDirectory([{ kind: 'rdmacm', library, dropIn: join(built, 'dropin') }]);
    copy = mkdtempSync(join(tmpdir(), 'verbs-everybody-'));
    chmodSync(copy, 0o755);
    for (const name of readdirSync(own)) copyFileSync(join(own, name), join(copy, name));
  });

  afterAll(() => {
    for (const directory of [own, copy]) if (directory !== '') rmSync(directory, { recursive: true, force: true });
  });

  function startAsNobody(command: string[], env: NodeJS.ProcessEnv = {}): Program {
    const whole = { ...process.env, LD_LIBRARY_PATH: copy, VERBS_SOFT: configuration, ...env };
    return new Program('/usr/bin/setpriv', [...asNobody, ...command], whole);
  }

  test.for([
    // Its own words, which do not tell why.
    ['ibv_devinfo', /^Failed to open device$/m],
    [`ibv_rc_pingpong -d soft0 -g 0`, /^Couldn't get context for soft0$/m],
    // By librdmacm, which has the error of a bound address.
    [`rping -s -a ${address}`, /rdma_bind_addr: Address already in use/],
  ] as const)('%s', async ([command, its]) => {
    const words = command.split(' ');
    const holder = startIn(own, 'rping', ['-s', '-P', '-a', address], configuration);
    try {
      await expect
        .poll(() => spawnSync('ss', ['-Hlun', `src ${address}`], { encoding: 'utf8' }).stdout)
        .toContain(':4791');
      const refused = await startAsNobody(words).ended;
      expect(refused.status, describeOutcome(refused)).not.toBe(0);
      const said = `${refused.stdout}${refused.stderr}`;
      expect(said).toMatch(its);
      // Once, however often the program or librdmacm tries.
      expect(said.split(taken)).toHaveLength(2);
      expect(said).toContain('processes of one user share an address, and no others do: choose another with addr=');
      const quiet = await startAsNobody(words, { VERBS_SOFT_QUIET: '1' }).ended;
      expect(`${quiet.stdout}${quiet.stderr}`).toMatch(its);
      expect(quiet.stderr).not.toContain('verbs:');
    } finally {
      holder.process.kill('SIGKILL');
      await holder.ended;
    }
    // Nobody has it any more.
    const alone = await startAsNobody(['ibv_devinfo']).ended;
    expect(alone.status, describeOutcome(alone)).toBe(0);
  });
});
