import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { captureOption, checkCapture, prepareCapture } from './demo/capture.js';
import { type RunResult, run } from './demo/run.js';
import { table } from './demo/table.js';
import { Failure } from './transfer/failure.js';
import { SourceFile } from './transfer/source-file.js';

const USAGE = `usage: npm run demo -- [FILE] [--capture FILE] [--seed NUMBER] [--json]

Moves a file (default: the node executable) between two processes by RDMA WRITE over the software NIC: once as it is,
once encrypted and with 2 % of all packets lost at either end. Writes the sender's packets of the second run to a
capture.

  --capture FILE   the capture (default ./verbs-demo.pcapng), at most 32 MiB of it
  --seed NUMBER    which packets are lost (default 1)
  --json           print the results as JSON`;

const LOSS = 0.02;

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
  const [file = process.execPath] = positionals;
  return { file: resolve(file), capture: resolve(values.capture), seed, json: values.json };
}

async function demo({ file, capture, seed, json }: Settings, signal: AbortSignal): Promise<RunResult[]> {
  SourceFile.open(file).close();
  prepareCapture(capture);
  try {
    const say = (text: string) => process.stderr.write(`${text}\n`);
    say(`Moving ${file} between two processes over the software NIC`);
    const plain = await run({ file, label: 'no loss', sender: '', receiver: '', encrypt: false, signal });
    const results = [
      plain,
      await run({
        file,
        label: `${LOSS * 100} % loss`,
        sender: `drop=${LOSS},seed=${seed},${captureOption(capture)}`,
        receiver: `drop=${LOSS},seed=${seed + 1}`,
        encrypt: true,
        signal,
      }),
    ];
    checkCapture(capture);
    if (json) process.stdout.write(`${JSON.stringify({ file, capture, runs: results }, null, 2)}\n`);
    else process.stdout.write(report(results, capture));
    return results;
  } catch (error) {
    rmSync(capture, { force: true });
    throw error;
  }
}

function report(results: RunResult[], capture: string): string {
  return `
${table(results)}

Seconds run from the first read of the file to the receiver's word that the last chunk is in its copy; the digests are
computed after that. Packets, losses and retransmissions are the counters of both NICs. SHA-256 of the copies:
${results.map(({ sha256 }) => `  ${sha256}`).join('\n')}
The sender's packets of the second run are in ${capture}: open it with Wireshark.
In that run the file's bytes are encrypted (AES-128-CTR), so the capture does not show the file.
`;
}

function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(name, () => {
      controller.abort(new Failure(`stopped by ${name}`, 'nothing is left behind'));
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
  if (error instanceof Failure) process.stderr.write(`  ${error.hint}\n`);
  if (error instanceof UsageError) process.stderr.write('  npm run demo -- --help\n');
}
