import { Failure } from '@verbs/lib/failure';

/** The failure for an error of `dial` that is a rejection with a reason. */
export function refusal(error: unknown): Failure | undefined {
  const { code, privateData } = error as { code?: string; privateData?: { error?: unknown } | null };
  const reason = code === 'REJECTED' ? privateData?.error : undefined;
  return typeof reason === 'string' ? new Failure(`the server refuses: ${reason}`, { cause: error }) : undefined;
}
