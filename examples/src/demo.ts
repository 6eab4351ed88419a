import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Failure } from '@verbs/lib/failure';
import { SourceFile } from '@verbs/lib/files';
import { chapters } from './demo/chapters/index.js';

const USAGE = `usage: npm run demo -- [FILE] [--capture FILE] [--seed NUMBER] [--json]

Moves a file (default: the largest of Node.js) between two processes by RDMA WRITE over the software NIC: once as it is,
once encrypted and with 2 % of all packets lost at either end. Writes the sender's packets of the second run to a
capture. Then a process of a host sends the file to one of its DPU over the DOCA Comm Channel and gets its SHA-256 back,
and an RDMA WRITE goes through a VXLAN and a GRE tunnel. Last, Ethernet frames go into a VXLAN tunnel and out of it.

  --capture FILE   the capture (default ./verbs-demo.pcapng), at most 32 MiB of it
  --seed NUMBER    which packets are lost (default 1)
  --json           print the results as JSON`;

interface Settings {
  file: string;
  capture: string;
  seed: number;
  json: boolean;
}

class UsageError extends Error {}

function readSettings(): Settings | undefined {
  let parsed;
  try {
    parsed = parseArgs({
      allowPositionals: true,
      options: {
        capture: { type: 'string', default: 'verbs-demo.pcapng' },
        seed: { type: 'string', default: '1' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const { values, positionals } = parsed;
  if (values.help) return undefined;
  if (positionals.length > 1) throw new UsageError('one file at most');
  const seed = Number(values.seed);
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new UsageError(`--seed is ${values.seed}: a whole number is needed`);
  const [file, capture] = [resolve(positionals[0] ?? nodeItself()), resolve(values.capture)];
  if (file === capture) throw new UsageError(`${file} is the file to be moved: the capture needs another one`);
  return { file, capture, seed, json: values.json };
}

/** The largest file of the running Node.js: its program or, as Debian 13 has it, its library. */
function nodeItself(): string {
  const mapped = readFileSync('/proc/self/maps', 'utf8').match(/\/\S+$/gm) ?? [];
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const largest = (one: string, other: string) => (sizeOf(other) > sizeOf(one) ? other : one);
  return [...new Set(mapped)].filter((path) => !path.startsWith('/dev/')).reduce(largest, process.execPath);
}

async function demo({ file, capture, seed, json }: Settings, signal: AbortSignal): Promise<void> {
  SourceFile.open(file).close();
  const say = (text: string) => process.stderr.write(`${text}\n`);
  let document: Record<string, unknown> = { file };
  let text = '';
  for (const chapter of chapters) {
    const outcome = await chapter({ file, capture, seed, signal, say });
    document = { ...document, ...outcome.document };
    text += outcome.text;
  }
  process.stdout.write(json ? `${JSON.stringify(document, null, 2)}\n` : text);
}

function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(name, () => {
      controller.abort(
        new Failure(`stopped by ${name}`, { hint: 'its processes have ended and the copies are removed' }),
      );
    });
  }
  return controller.signal;
}

try {
  const settings = readSettings();
  if (settings === undefined) process.stdout.write(`${USAGE}\n`);
  else await demo(settings, stopSignal());
} catch (error) {
  process.exitCode = error instanceof UsageError ? 2 : 1;
  process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
  if (error instanceof Failure && error.hint !== undefined) process.stderr.write(`  ${error.hint}\n`);
  if (error instanceof UsageError) process.stderr.write('  npm run demo -- --help\n');
}
