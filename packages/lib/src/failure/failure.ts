/**
 * A failure that a user can do something about: one sentence that says what is wrong, one that says what helps.
 * `exitCode` is 1 for a task that failed and 2 for a wrong command line.
 */
export class Failure extends Error {
  readonly hint: string | undefined;
  readonly exitCode: number;

  constructor(message: string, options: { hint?: string; exitCode?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'Failure';
    this.hint = options.hint;
    this.exitCode = options.exitCode ?? 1;
  }
}

/** The code of a system or verbs error, for example 'ENOSPC'. */
export function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
