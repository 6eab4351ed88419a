import type { QpState } from '../enums/index.js';
import type { AsyncEvent, LibraryKind } from './device.js';
import type {
  CompletionQueue,
  Context,
  MemoryRegion,
  QueuePair,
  ReceiveWorkQueue,
  SharedReceiveQueue,
  WorkCompletion,
} from './objects.js';
import type { RecvWr, SendWr } from './work-request.js';

/** `verbs:object:open`, `verbs:object:close` and `verbs:object:leaked`: an object. */
export interface ObjectMessage {
  /** The name of its class: 'QueuePair'. */
  type: string;
  /** Unique in this thread; newer objects have larger numbers. The object's `inspect` output has it as `#7`. */
  id: number;
  /** Where it was created. `verbs:object:leaked` only. */
  stack?: string;
}

/** `verbs:library:load`: the search for a library, and its result. */
export interface LibraryMessage {
  /** The C library: 'libibverbs', or a vendor's such as 'libmlx5'. */
  library: string;
  /** Whether the vendor's own was looked for, or the one of the software NIC. */
  kind: LibraryKind;
  /** The file or SONAME, if one was found. */
  path?: string;
  /** Why it cannot be used, and the remedy. Left out for a loaded library. */
  reason?: string;
}

/** `verbs:library:devices`: the devices of a loaded library. */
export interface DeviceListMessage {
  /** Which libibverbs. */
  kind: LibraryKind;
  /** Their names. */
  devices: string[];
  /** Why there is none, and the remedy. */
  reason?: string;
}

/** `verbs:mr:register` and `verbs:mr:deregister`: a memory region. */
export interface MemoryMessage {
  /** As in {@link ObjectMessage}. */
  id: number;
  /** The region. */
  mr: MemoryRegion;
  /** Bytes. */
  length: number;
  /** See {@link AccessFlags}. */
  access: number;
}

/** `verbs:qp:state`: a queue pair is in another state than the last known one. */
export interface QpStateMessage {
  /** As in {@link ObjectMessage}. */
  id: number;
  /** The queue pair. */
  qp: QueuePair;
  /** `qp.qpNum` */
  qpNum: number;
  /** By its name in {@link QpState}; 'UNKNOWN' for a queue pair that was opened, not created here. */
  from: keyof typeof QpState;
  /** By its name in {@link QpState}. */
  to: keyof typeof QpState;
  /**
   * The cause: `qp.modify` (so also `connect` and `activate`) and a vendor's modify call make the change;
   * `qp.query`, a failed completion and an asynchronous event find changes that the device made.
   */
  cause: 'modify' | 'query' | 'completion' | 'event';
}

/** `verbs:post:error`: a post call did not post all its requests. The queue rejected one, or a value in it is wrong. */
export interface PostErrorMessage {
  /** As in {@link ObjectMessage}. */
  id: number;
  /** The queue. */
  queue: QueuePair | SharedReceiveQueue | ReceiveWorkQueue;
  /** The C function, 'ibv_post_send'. */
  syscall: string;
  /** The error of the post call. */
  error: Error;
  /** The number of requests that were posted before the one at fault. */
  posted: number;
}

/** `verbs:completion:error`: a request completed with another status than SUCCESS. */
export interface CompletionErrorMessage {
  /** Of the completion queue, as in {@link ObjectMessage}. */
  id: number;
  /** The queue that was polled. */
  cq: CompletionQueue;
  /** Whose request it was; left out if the program holds it no longer. */
  qp?: QueuePair;
  /** The completion. Only its `wrId`, `status`, `qpNum` and `vendorErr` mean something. */
  wc: WorkCompletion;
}

/** `verbs:device:event`: an asynchronous event of a device. */
export interface DeviceEventMessage {
  /** Of the context, as in {@link ObjectMessage}. */
  id: number;
  /** The open device. */
  context: Context;
  /** The event, as listeners of `ctx.events` get it. */
  event: AsyncEvent;
}

/** The channels `tracing:verbs:request:*`: one `await qp.send(wr)` or `await qp.recv(wr)`. */
export interface RequestMessage {
  /** As in {@link ObjectMessage}. */
  id: number;
  /** The queue pair. */
  qp: QueuePair;
  /** The method. */
  method: 'send' | 'recv';
  /** As the program gave it. */
  wr: SendWr | RecvWr;
  /** `asyncStart` and `asyncEnd` of a request that succeeded. */
  result?: WorkCompletion;
  /** With `error` and the messages after it: the rejection of the promise. */
  error?: unknown;
}

/**
 * The channels of `node:diagnostics_channel` and their messages. A call publishes its messages while it runs, those
 * about completions right before it returns. Without subscribers nothing is recorded.
 *
 * @example
 * import { subscribe } from 'node:diagnostics_channel';
 * import type { DiagnosticsMessages } from '@verbs/core';
 *
 * subscribe('verbs:qp:state', (message) => {
 *   const { qpNum, from, to } = message as DiagnosticsMessages['verbs:qp:state'];
 *   console.log(`queue pair 0x${qpNum.toString(16)}: ${from} -> ${to}`);
 * });
 */
export interface DiagnosticsMessages {
  /** An object was created. */
  'verbs:object:open': ObjectMessage;
  /** An object was closed, by itself or with a parent. */
  'verbs:object:close': ObjectMessage;
  /** An object was collected without a close. Only of objects created while the channel had a subscriber. */
  'verbs:object:leaked': ObjectMessage;
  /** The search for a library: at its first use, and when the result differs from the one before. */
  'verbs:library:load': LibraryMessage;
  /** A libibverbs gave its list of devices: the first time, and when the list is another than before. */
  'verbs:library:devices': DeviceListMessage;
  /** Memory was registered, or registered anew by `rereg`. */
  'verbs:mr:register': MemoryMessage;
  /** A registration ended. */
  'verbs:mr:deregister': MemoryMessage;
  /** A queue pair changed its state. */
  'verbs:qp:state': QpStateMessage;
  /** A post call failed in the C library or in its place. Wrong values are found before, and only thrown. */
  'verbs:post:error': PostErrorMessage;
  /** A request failed. All ways of polling publish it: `poll`, `pollBatch`, iterations, and awaited requests. */
  'verbs:completion:error': CompletionErrorMessage;
  /**
   * A device had an event. They are read from the device while a program listens or iterates, and for the whole life of
   * a context that was opened while this channel had a subscriber; that does not keep the process alive.
   */
  'verbs:device:event': DeviceEventMessage;
}
