import { parseArgs } from 'node:util';

/** The port of ibv_rc_pingpong and its relatives. */
const DEFAULT_PORT = 18515;

export const USAGE = `usage: file-transfer receive FILE [options]     the side that waits
       file-transfer send FILE [options]        the side that goes to it

Moves a file by RDMA WRITE. Options:
  --host ADDRESS   where the receiver listens for the first contact (default 127.0.0.1)
  --port PORT      its TCP port (default ${DEFAULT_PORT}; 0 is any free one)
  --device NAME    the RDMA device (default: the first hardware device, else the software NIC)
  --encrypt        with send: hide the file's bytes on the wire (AES-128-CTR, a fresh key)
  --label TEXT     the word before the progress bar
  --json           print the report as JSON

Example: file-transfer receive copy.bin        and, in another shell: file-transfer send original.bin`;

export interface Settings {
  role: 'send' | 'receive';
  path: string;
  host: string;
  port: number;
  device: string | undefined;
  encrypt: boolean;
  label: string;
  json: boolean;
}

/** A wrong command line. */
export class UsageError extends Error {}

/** The settings, or undefined if help is wanted. */
export function readSettings(args: string[]): Settings | undefined {
  const { values, positionals } = parse(args);
  if (values.help) return undefined;
  const [role, path, ...rest] = positionals;
  if (role !== 'send' && role !== 'receive')
    throw new UsageError(`"send" or "receive" is needed, not ${role ?? 'nothing'}`);
  if (path === undefined || rest.length > 0) throw new UsageError('one file is needed');
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65535)
    throw new UsageError(`--port is ${values.port}: 0 to 65535 is allowed`);
  const { host, device, encrypt, label = role, json } = values;
  return { role, path, host, port, device, encrypt, label, json };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        host: { type: 'string', default: '127.0.0.1' },
        port: { type: 'string', default: String(DEFAULT_PORT) },
        device: { type: 'string' },
        encrypt: { type: 'boolean', default: false },
        label: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
