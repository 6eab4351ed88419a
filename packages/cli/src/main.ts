import { CommanderError } from 'commander';
import { Failure, messageOf } from '@verbs/lib/failure';
import { note, paint, tolerateClosedPipes } from './output.js';
import { createProgram } from './program.js';

/** Runs the `verbs` command. The exit code is 0, 1 for a failure, 2 for a wrong command line; `run` passes on its own. */
export async function main(argv: readonly string[]): Promise<void> {
  tolerateClosedPipes();
  try {
    await createProgram().parseAsync([...argv]);
  } catch (error) {
    process.exitCode = report(error);
  }
}

function report(error: unknown): number {
  // commander has printed its own message; help and version are no errors.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  note(`${paint(process.stderr, 'red', 'verbs:')} ${messageOf(error)}`);
  if (error instanceof Failure) {
    if (error.hint !== undefined) note(`  ${error.hint}`);
    return error.exitCode;
  }
  if (process.env['NODE_DEBUG']?.split(',').includes('verbs') && error instanceof Error) note(error.stack ?? '');
  return 1;
}
