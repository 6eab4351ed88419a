// Another user of the machine announces services: a listener of this user, or of root, comes first.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { expect, it, onTestFinished } from 'vitest';
import { connect } from '../src/index.js';
import { keep, server } from './helpers/connections.js';

// The service is not at the address that programs ask for, as it is with all processes of a machine but the first.
process.env['VERBS_SOFT'] = `soft0,addr=127.201.${String((process.pid >> 8) & 255)}.${String(process.pid & 255)}`;

const asNobody = ['--reuid', 'nobody', '--regid', 'nogroup', '--clear-groups', '/usr/bin/python3', '-c'];

/** Only root can become somebody else. */
function whyNot(): string | undefined {
  if (process.geteuid?.() !== 0) return 'not root';
  const { error, status, stderr } = spawnSync('setpriv', [...asNobody, 'pass'], { encoding: 'utf8' });
  return error?.message ?? (status === 0 ? undefined : stderr);
}

/** Binds the names as uid nobody, and keeps them until the test ends. */
async function announceAsNobody(names: string[]) {
  const program = `import socket, sys
kept = [socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for name in sys.argv[1:]]
for each, name in zip(kept, sys.argv[1:]): each.bind('\\0' + name)
print('bound', flush=True)
sys.stdin.read()`;
  const child = spawn('setpriv', [...asNobody, program, ...names], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(async () => {
    const ended = once(child, 'exit');
    child.stdin.end();
    await ended;
  });
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  expect(line).toMatch(/^bound/);
}

const reason = whyNot();

it.skipIf(reason !== undefined)(
  `another user neither redirects connections nor takes the place of a listener${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  async () => {
    const port = 17_471;
    const service = `verbs-cm/${(0x0106_0000 + port).toString(16)}`;
    const names = ['::ffff:127.0.0.1', '::'].map((bound) => `${service}/${bound}/::ffff:127.0.0.99`);
    // Also the names that a listener of this machine's first devices would use.
    for (const last of [1, 2, 3, 4]) names.push(`${service}/::/::ffff:127.0.0.${String(last)}`);
    await announceAsNobody(names);
    const listening = server({ port });
    const accepted = listening.request().then((request) => request.accept());
    const one = keep(await connect({ host: '127.0.0.1', port, library: 'soft', timeout: 5000 }));
    const other = keep(await accepted);
    expect(one.remoteAddress).toEqual(other.localAddress);
  },
);
