import {
  type CompletionQueue,
  type Context,
  type ProtectionDomain,
  type QpCap,
  type QpType,
  type QueuePair,
  type SharedReceiveQueue,
  VerbsError,
} from '@verbs/core';
import { errno, fields, flag, handleOf, maybe, u16, u24 } from '@verbs/core/provider';
import type { CmId } from '../cm/cm-id.js';

/** How the queue pair of a connection is made. What is left out is made for it, and closed with the connection. */
export interface QpOptions {
  /** The protection domain, of the connection's context; default: one of its own. */
  pd?: ProtectionDomain;
  /** Where requests complete; default: a queue of its own, with a completion channel. */
  cq?: CompletionQueue;
  /** Where send requests complete, instead of `cq`. */
  sendCq?: CompletionQueue;
  /** Where receive requests complete, instead of `cq`. */
  recvCq?: CompletionQueue;
  /** Takes the place of the queue pair's own receive queue. */
  srq?: SharedReceiveQueue;
  /** Default: 64 send and 64 receive requests of one element. */
  cap?: QpCap;
  /** Whether every send request completes visibly; default false. */
  sqSigAll?: boolean;
}

/** The same, or a function that gives it for the context of the device that the connection goes over. */
export type QpSource = QpOptions | ((context: Context) => QpOptions);

const cap = fields({
  maxSendWr: u24(),
  maxRecvWr: u24(),
  maxSendSge: maybe(u16()),
  maxRecvSge: maybe(u16()),
  maxInlineData: maybe(u24()),
});

const resource = (kind: string) => (value: unknown, path: string) => {
  if (value !== undefined) handleOf(value, kind, path, 'rdma_create_qp');
  return value;
};

const checkOptions = fields({
  pd: resource('ProtectionDomain'),
  cq: resource('CompletionQueue'),
  sendCq: resource('CompletionQueue'),
  recvCq: resource('CompletionQueue'),
  srq: resource('SharedReceiveQueue'),
  cap: maybe(cap),
  sqSigAll: flag(),
});

const DEFAULT_CAP: QpCap = { maxSendWr: 64, maxRecvWr: 64 };

/** A queue pair on an identifier, and what was made for it. */
export interface MadeQueuePair<T extends QpType = QpType> {
  qp: QueuePair<T>;
  pd: ProtectionDomain;
  /** Newest last. */
  own: { close(): void }[];
}

/** Makes the queue pair of an identifier that belongs to a device. `path` is the argument's. */
export function makeQueuePair<T extends QpType>(
  id: CmId,
  source: QpSource | undefined,
  path: string,
): MadeQueuePair<T> {
  const context = id.verbs;
  if (context === undefined) throw new VerbsError(errno.EINVAL, 'rdma_create_qp');
  const [value, name] = typeof source === 'function' ? [source(context), `${path}()`] : [source ?? {}, path];
  const given = checkOptions(value, name) as QpOptions;
  const own: { close(): void }[] = [];
  const keep = <R extends { close(): void }>(resource: R): R => {
    own.push(resource);
    return resource;
  };
  try {
    const pd = given.pd ?? keep(context.allocPd());
    const cap = given.cap ?? DEFAULT_CAP;
    const fallback = (): CompletionQueue => {
      const channel = keep(context.createCompChannel());
      return keep(context.createCq(Math.max(1, cap.maxSendWr + cap.maxRecvWr), { channel }));
    };
    const needed = given.sendCq === undefined || given.recvCq === undefined;
    const cq = given.cq ?? (needed ? fallback() : undefined);
    const attr = {
      sendCq: given.sendCq ?? cq,
      recvCq: given.recvCq ?? cq,
      ...(given.srq && { srq: given.srq }),
      cap,
      sqSigAll: given.sqSigAll,
    };
    return { qp: id.createQp<T>(pd, attr as Parameters<typeof id.createQp<T>>[1]), pd, own };
  } catch (error) {
    closeAll(own);
    throw error;
  }
}

/** Closes what was made, newest first. */
export function closeAll(own: readonly { close(): void }[]): void {
  for (const resource of [...own].reverse()) resource.close();
}
