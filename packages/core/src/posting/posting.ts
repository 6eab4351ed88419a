import { HEADER } from '../base/records.js';
import { kSelect, kSerial } from '../base/symbols.js';
import { optional, typeError, u64 } from '../base/validate.js';
import { postErrors } from '../diagnostics/channels.js';
import type { PostErrorMessage } from '../types/diagnostics.js';
import { BatchWriter } from './batch-writer.js';
import { postError, type PostFailure } from './post-errors.js';
import type { RequestBatch } from './request-batch.js';
import type { RequestPath } from './request-path.js';

/** All queues of this thread write into one batch. */
const shared = new BatchWriter();
let sharedBusy = false;

/** A queue and its limits, for the errors that its post calls throw. */
export interface Limits {
  queue: PostErrorMessage['queue'];
  syscall: string;
  maxSge: number;
  maxWr: number;
  /** Why the library refused the request with that number in the bytes of a batch, if the queue knows it. */
  reason?: (code: number, bytes: Uint8Array, index: number) => string | undefined;
}

type Write = (batch: BatchWriter, wr: unknown, path: RequestPath) => void;
type Call = (batch: BatchWriter, count: number) => number;

/**
 * Writes one or many work requests into a batch and posts it by one native call. Whatever is wrong with a request, those
 * before it are posted, and the error's `posted` is their number.
 */
export function postRequests(wr: unknown, write: Write, call: Call, about: Limits): void {
  // A getter in a request may post on its own: then the shared batch is not free.
  const batch = sharedBusy ? new BatchWriter() : shared;
  const mine = batch === shared;
  sharedBusy = true;
  try {
    batch.reset();
    let count = 0;
    let wrong: { error: unknown } | undefined;
    try {
      if (Array.isArray(wr)) {
        // The queue rejects the first request that does not fit, so the rest need not be written.
        const most = Math.min(wr.length, about.maxWr + 1);
        for (; count < most; count++) write(batch, wr[count], count);
      } else {
        write(batch, wr, 'wr');
        count = 1;
      }
    } catch (error) {
      wrong = { error };
    }
    const code = wrong !== undefined && count === 0 ? 0 : call(batch, count);
    if (code !== 0) {
      const { posted, badSge: sge } = batch;
      const at = atFault(code, posted, sge);
      const path = Array.isArray(wr) ? `wr[${at}]` : 'wr';
      failPost({ code, posted, sge, path, hint: about.reason?.(code, batch.bytes, at) }, about);
    }
    if (wrong !== undefined) throw refused(wrong.error, count, about);
  } finally {
    if (mine) sharedBusy = false;
  }
}

/** The bytes of a batch, for a native call that posts `count` of its requests from `first` on. */
export function selectRequests(batch: unknown, kind: string, first: number, count: number | undefined): Uint8Array {
  if (typeof (batch as RequestBatch | null | undefined)?.[kSelect] !== 'function')
    throw typeError('batch', `a ${kind}`, batch);
  return (batch as RequestBatch)[kSelect](kind, first, count);
}

/** Throws for a batch that was not posted as a whole. `code` is the result of the native call. */
export function failBatch(code: number, bytes: Uint8Array, first: number, about: Limits): never {
  const header = new DataView(bytes.buffer, bytes.byteOffset);
  const posted = header.getUint32(HEADER.POSTED, true);
  const sge = header.getUint32(HEADER.SGE, true);
  const at = first + atFault(code, posted, sge);
  failPost({ code, posted, sge, path: `batch[${at}]`, hint: about.reason?.(code, bytes, at) }, about);
}

/** The request at fault. A library that posts all or nothing may have got others in front of it. */
const atFault = (code: number, posted: number, sge: number) => (code > 0 ? posted + sge : posted);

function failPost(what: Pick<PostFailure, 'code' | 'posted' | 'sge' | 'path' | 'hint'>, about: Limits): never {
  const { maxSge, maxWr, syscall } = about;
  throw refused(postError({ ...what, maxSge, maxWr, syscall }), what.posted, about);
}

/** Tells an error, and those who listen, how many requests were posted before the one at fault. */
function refused(error: unknown, posted: number, { queue, syscall }: Limits): unknown {
  // A getter of the program's may throw anything.
  if (!(error instanceof Error)) return error;
  if (Object.isExtensible(error)) Object.assign(error, { posted });
  if (postErrors.hasSubscribers) postErrors.publish({ id: queue[kSerial], queue, syscall, error, posted });
  return error;
}

/** The fields of an awaited request that its promise needs. The post call checks the other ones. */
export function awaitable(wr: unknown): { wrId: bigint | number; sendFlags: number; opcode: number | undefined } {
  if (typeof wr !== 'object' || wr === null || Array.isArray(wr)) throw typeError('wr', 'one work request', wr);
  const { wrId, sendFlags, opcode } = wr as Record<string, unknown>;
  return {
    wrId: wrId === undefined ? 0 : u64(wrId, 'wr.wrId'),
    sendFlags: optional(sendFlags, 'wr.sendFlags', 0x7fffffff, 0),
    opcode: typeof opcode === 'number' ? opcode : undefined,
  };
}
