import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { Failure, fileFailure } from '@verbs/lib/failure';

const CAPTURE_LIMIT = 32 * 1024 * 1024;

const INCOMPLETE = 'capture incomplete: ';

/** Whether the capture can be written is better known before the first transfer than after it. */
export function prepareCapture(path: string): void {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'w');
  } catch (error) {
    throw fileFailure(`cannot write the capture ${path}`, error);
  }
  const isFile = fstatSync(descriptor).isFile();
  closeSync(descriptor);
  if (!isFile)
    throw new Failure(`cannot write the capture ${path}: it is no regular file`, {
      hint: 'name a file: --capture FILE',
    });
}

/** The options of a device that captures. Separators in a value are written as %XX. */
export function captureOption(path: string): string {
  const escaped = path.replace(/[%,;#]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `capture=${escaped},capture_limit=${CAPTURE_LIMIT}`;
}

/** A capture that could not be written to its end says so in the comment of its section header. */
export function checkCapture(path: string): void {
  const head = Buffer.alloc(1024);
  const descriptor = openSync(path, 'r');
  const length = readSync(descriptor, head);
  closeSync(descriptor);
  const text = head.toString('latin1', 0, length);
  const at = text.indexOf(INCOMPLETE);
  if (length > 0 && at < 0) return;
  const reason = length === 0 ? 'it is empty' : (/^[ -~]*/.exec(text.slice(at + INCOMPLETE.length))?.[0].trim() ?? '');
  throw new Failure(`the capture ${path} is incomplete: ${reason}`, {
    hint: 'free some space, or name a file on another disk: npm run demo -- --capture FILE',
  });
}
