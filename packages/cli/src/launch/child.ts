import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { Failure, codeOf, messageOf } from '@verbs/lib/failure';

/** Signals that end a program, or that mean something to it, and that are passed on. */
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** These a terminal sends to the whole foreground process group, so to the program as well. */
const FROM_TERMINAL = new Set<string>(['SIGINT', 'SIGQUIT', 'SIGHUP']);

/**
 * Runs a program with this process's standard streams and returns the status that a shell would see: its own, or
 * 128 + n for a signal. 127 stands for a missing program, 126 for one that cannot be executed, as in env(1).
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  let stop: (() => void) | undefined;
  try {
    // Some errors are thrown at once.
    const child = spawn(program, args, { stdio: 'inherit', env: environment });
    stop = forwardSignals(child);
    return await statusOf(child);
  } catch (error) {
    throw startFailure(program, error);
  } finally {
    stop?.();
  }
}

function statusOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let started = false;
    child.once('spawn', () => (started = true));
    child.on('error', (error) => {
      // A signal for a program that is another user's by now fails as well, and the program goes on.
      if (!started) reject(error);
    });
    child.once('exit', (code, signal) => {
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

function startFailure(program: string, error: unknown): Failure {
  switch (codeOf(error)) {
    case 'ENOENT':
      return new Failure(`${program}: command not found`, {
        hint: 'is it installed, and on PATH? (Debian has ibv_* in the package ibverbs-utils)',
        exitCode: 127,
        cause: error,
      });
    case 'EACCES':
    case 'ENOEXEC':
      return new Failure(`${program}: cannot be executed: ${messageOf(error)}`, { exitCode: 126, cause: error });
    default:
      return new Failure(`${program}: cannot be started: ${messageOf(error)}`, { exitCode: 126, cause: error });
  }
}

function forwardSignals(child: ChildProcess): () => void {
  const stops = FORWARDED.map((signal) => {
    const forward = () => {
      // The terminal has already sent it to the program; a second one could mean "stop at once".
      if (FROM_TERMINAL.has(signal) && ownsTerminal()) return;
      child.kill(signal);
    };
    process.on(signal, forward);
    return () => process.off(signal, forward);
  });
  return () => {
    for (const stop of stops) stop();
  };
}

/** Whether this process group is the one that the terminal sends its signals to. */
function ownsTerminal(): boolean {
  // pid (comm) state ppid pgrp session tty_nr tpgid; the command's name may hold anything, so read behind it.
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[5] !== '-1' && fields[5] === fields[2];
}
