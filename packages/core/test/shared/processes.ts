import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Only a deadlock takes that many milliseconds. */
const HANG = 100_000;

async function runModule(program: string, module: URL, devices: string): Promise<unknown> {
  const path = fileURLToPath(new URL(`../programs/${program}`, import.meta.url));
  const options = { env: { ...process.env, VERBS_SOFT: devices }, timeout: HANG, killSignal: 'SIGKILL' } as const;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    // A thread of V8 that finds no memory for itself ends the process: of the garbage collector, and of the optimizing compiler.
    ['--no-warnings', '--single-threaded-gc', '--no-opt', path, fileURLToPath(module)],
    options,
  );
  return JSON.parse(stdout);
}

/** For each way to make an object, by its name: name and code of the error when the process is at its memory limit. */
export const failuresShortOfMemory = (ways: URL, devices: string) => runModule('short-memory.mjs', ways, devices);

/** What came of 200 programs that were started while two workers opened and closed devices. */
export const spawnUnderLoad = (churn: URL, devices: string) => runModule('spawn-under-load.mjs', churn, devices);
