import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { dropInDirectory, nicLibrary } from '@verbs/soft';
import { dirname } from 'node:path';
import { softModel } from '../../dist/index.js';

export interface Program {
  child: ChildProcess;
  /** Everything that it wrote until now. */
  output: () => string;
  /** Resolves when it has written this. */
  says: (text: string) => Promise<void>;
  /** Its exit status, or the signal that ended it. */
  ended: Promise<number | string | null>;
}

/** A foreign program, on our libraries under DOCA's names: one of ours, or one by its path. */
export function foreign(name: string, args: string[], env: Record<string, string> = {}): Program {
  const path = fileURLToPath(new URL(name, new URL('../../build/bin/', import.meta.url)));
  const LD_LIBRARY_PATH = [softModel.dropIn, dropInDirectory(), dirname(nicLibrary)].join(':');
  return start(path, args, { ...env, LD_LIBRARY_PATH });
}

/** A program of test/programs in a Node process of its own. `wrap`: words in front of the command. */
export function script(
  name: string,
  args: string[],
  env: Record<string, string> = {},
  wrap: readonly string[] = [],
): Program {
  const path = fileURLToPath(new URL(`../programs/${name}`, import.meta.url));
  const [command = '', ...rest] = [...wrap, process.execPath, path, ...args];
  return start(command, rest, env);
}

function start(path: string, args: string[], env: Record<string, string>): Program {
  return started(spawn(path, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] }));
}

/** A process that runs. */
export function started(child: ChildProcessWithoutNullStreams): Program {
  let output = '';
  const heard = (text: string) => {
    output += text;
  };
  child.stdout.setEncoding('utf8').on('data', heard);
  child.stderr.setEncoding('utf8').on('data', heard);
  const ended = new Promise<number | string | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      resolve(code ?? signal);
    });
  });
  const says = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (output.includes(text)) resolve();
      };
      child.stdout.on('data', look);
      look();
      void ended.then((status) => {
        reject(new Error(`it ended with ${String(status)} and did not say "${text}": ${output}`));
      }, reject);
    });
  return { child, output: () => output, says, ended };
}
