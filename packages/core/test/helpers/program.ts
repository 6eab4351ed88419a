import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Ended {
  code: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
}

export interface ProgramOptions {
  args?: string[];
  nodeArgs?: string[];
  cwd?: string;
  env?: Record<string, string>;
}

export const programPath = (name: string) => fileURLToPath(new URL(`../programs/${name}`, import.meta.url));

/** Runs a program in a process of its own to its end. */
export function run(path: string, { args = [], nodeArgs = [], cwd, env }: ProgramOptions = {}): Promise<Ended> {
  const child = spawn(process.execPath, [...nodeArgs, path, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      resolve({ code, signal, stdout, stderr });
    });
  });
}
