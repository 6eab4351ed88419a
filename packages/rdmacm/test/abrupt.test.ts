// Connections that end in the middle of something: test/programs/abrupt.mjs, in processes of their own.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const program = fileURLToPath(new URL('programs/abrupt.mjs', import.meta.url));

/** Only a hang takes that many milliseconds. */
const HANG = 60_000;

it.each([
  ['terminated', 'connects afterwards', 'workers that are terminated while they connect'],
  ['exit', 'exits', 'a process that exits with requests on the way'],
  ['handlers', 'client server', 'connections and servers that are closed by their own events'],
  ['throws', 'uncaught of the listener, connects afterwards', 'a listener that throws'],
  [
    'withdrawn',
    'TIMEDOUT and the next connects',
    'a request that its side withdrew, with two processes at the address',
  ],
  ['order', 'EINVAL ERR_VERBS_CLOSED', 'calls of an identifier in any order'],
])(
  '%s: %s, after %s',
  async (way, expected) => {
    const options = { env: { ...process.env, VERBS_SOFT: 'soft0' }, timeout: HANG, killSignal: 'SIGKILL' } as const;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--no-warnings', program, way], options);
    expect([stdout, stderr]).toEqual([`${expected}\n`, '']);
  },
  90_000,
);
