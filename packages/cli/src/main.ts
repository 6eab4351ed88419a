import { CommanderError } from 'commander';
import { report, tolerateClosedPipes } from './output.js';
import { createProgram } from './program.js';

/** Runs the `verbs` command. The exit code is 0, 1 for a failure, 2 for a wrong command line; `run` passes on its own. */
export async function main(argv: readonly string[]): Promise<void> {
  tolerateClosedPipes();
  try {
    await createProgram().parseAsync([...argv]);
  } catch (error) {
    // commander has printed its own message; help and version are no errors.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else process.exitCode = report(error);
  }
}
