import { Failure, messageOf } from '@verbs/lib/failure';
import { note, paint } from './output.js';

/** Prints an error, with what would help. Returns the exit code that it means. */
export function report(error: unknown): number {
  note(`${paint(process.stderr, 'red', 'verbs:')} ${messageOf(error)}`);
  if (error instanceof Failure) {
    if (error.hint !== undefined) note(`  ${error.hint}`);
    return error.exitCode;
  }
  if (process.env['NODE_DEBUG']?.split(',').includes('verbs') && error instanceof Error) note(error.stack ?? '');
  return 1;
}
