import { check, checked } from '../base/errors.js';
import { fields, maybe, or, range, u16, u24, u31 } from '../base/fields.js';
import { brief, qpn } from '../base/inspection.js';
import { native } from '../base/native.js';
import { kClosing, kElement, kKeep } from '../base/symbols.js';
import { object } from '../base/validate.js';
import type { CompletionQueue } from '../completion/completion-queue.js';
import { type WqFlags, WqState, WqType } from '../enums/index.js';
import { handle, handleOf, Resource } from '../lifetime/resource.js';
import { failBatch, type Limits, postRequests, selectRequests } from '../posting/posting.js';
import type { RecvBatch } from '../posting/recv-batch.js';
import { writeRecv } from '../posting/request-records.js';
import type { ProtectionDomain } from '../types/objects.js';
import type { RecvWr } from '../types/work-request.js';

/** `struct ibv_wq_init_attr`. */
export interface WqInitAttr {
  /** Where its receives complete. */
  cq: CompletionQueue;
  /** Outstanding requests, at least 1. */
  maxWr: number;
  /** Elements of a request, default 1. */
  maxSge?: number;
  /** See {@link WqFlags}; default 0. */
  createFlags?: WqFlags;
}

/** `struct ibv_wq_attr`: the given fields change. */
export interface WqAttr {
  /** See {@link WqState}. */
  wqState?: WqState;
  /** Asserts the state before the change; see {@link WqState}. */
  currWqState?: WqState;
  /** See {@link WqFlags}. */
  flags?: WqFlags;
  /** Which of the flags are changed. */
  flagsMask?: WqFlags;
}

const SYSCALL = 'ibv_create_wq';

const initAttr = fields({
  cq: handle('CompletionQueue', SYSCALL),
  maxWr: u24(1),
  maxSge: or(u16(), 1),
  createFlags: or(u31(), 0),
});

const state = range(0, WqState.UNKNOWN);
const changes = fields({
  wqState: maybe(state),
  currWqState: maybe(state),
  flags: maybe(u31()),
  flagsMask: maybe(u31()),
});

/**
 * `ibv_wq`: a receive queue for receive side scaling. Created by {@link ProtectionDomain.createWq}; `close()` is
 * `ibv_destroy_wq`.
 */
export class ReceiveWorkQueue extends Resource {
  /** The protection domain that it belongs to. */
  readonly pd: ProtectionDomain;
  /** Where its receives complete. */
  readonly cq: CompletionQueue;
  /** `ibv_wq.wq_num`: the device's number for it. */
  readonly wqNum: number;
  /** Outstanding requests: the number that the device granted, at least the requested one. */
  readonly maxWr: number;
  /** Elements of a request: the number that the device granted, at least the requested one. */
  readonly maxSge: number;
  readonly #id: number;

  /** @internal */
  constructor(pd: ProtectionDomain, given: WqInitAttr, adopted?: NativeWq) {
    const attr = adopted === undefined ? (object(given, 'attr', initAttr.names) as unknown as WqInitAttr) : given;
    const made = adopted ?? create(pd, attr);
    super('ReceiveWorkQueue', made.handle, 'ibv_destroy_wq', [pd, attr.cq]);
    this.pd = pd;
    this.cq = attr.cq;
    this.wqNum = made.wqNum;
    this.maxWr = made.maxWr;
    this.maxSge = made.maxSge;
    this.#id = made.id;
    pd.context[kElement](made.id, this);
  }

  /**
   * `ibv_modify_wq`: brings it to another state, or changes flags.
   *
   * @throws VerbsError EINVAL (an impossible transition), EOPNOTSUPP
   * @example wq.modify({ wqState: WqState.RDY });
   */
  modify(attr: WqAttr): void {
    const wq = this.use('ibv_modify_wq');
    const given = changes(attr, 'attr');
    // As of a queue pair that is reset: mlx5 drops them when the queue becomes ready again.
    if (given.wqState === WqState.RESET || given.wqState === WqState.RDY) this.cq[kKeep]();
    check(-Math.abs(native.modifyWq(wq, given)), 'ibv_modify_wq');
  }

  /** @internal */
  override [kClosing](): void {
    super[kClosing]();
    this.cq[kKeep]();
  }

  /**
   * `ibv_post_wq_recv` of one or many requests.
   *
   * @throws TypeError, RangeError, VerbsError as {@link QueuePair.postRecv}
   */
  postRecv(wr: RecvWr | readonly RecvWr[]): void {
    const wq = this.use('ibv_post_wq_recv');
    postRequests(wr, writeRecv, (batch, count) => native.postWqRecv(wq, batch.bytes, count), this.#limits());
  }

  /**
   * `ibv_post_wq_recv` of the requests of a {@link RecvBatch}; as with {@link QueuePair.postSendBatch}.
   *
   * @throws TypeError, RangeError, VerbsError as {@link QueuePair.postSendBatch}
   */
  postRecvBatch(batch: RecvBatch, first = 0, count?: number): void {
    const wq = this.use('ibv_post_wq_recv');
    const bytes = selectRequests(batch, 'RecvBatch', first, count);
    const code = native.postWqRecv(wq, bytes, count ?? batch.capacity - first);
    if (code !== 0) failBatch(code, bytes, first, this.#limits());
  }

  #limits(): Limits {
    return { queue: this, syscall: 'ibv_post_wq_recv', maxSge: this.maxSge, maxWr: this.maxWr };
  }

  protected override onClosed(): void {
    this.pd.context[kElement](this.#id, undefined);
  }

  protected override describe() {
    const { maxWr, maxSge } = this;
    return { wqNum: qpn(this.wqNum), maxWr, maxSge, cq: brief(this.cq), pd: brief(this.pd) };
  }
}

/** The native receive work queue. */
export type NativeWq = Exclude<ReturnType<typeof native.createWq>, number>;

function create(pd: ProtectionDomain, value: unknown): NativeWq {
  const { handle, cq, init } = nativeWqAttr(pd, value);
  return checked(native.createWq(handle, cq, init), SYSCALL);
}

/** Checks every field by its path. */
export function nativeWqAttr(pd: ProtectionDomain, value: unknown) {
  const { cq, ...attr } = initAttr(value, 'attr');
  return {
    /** The protection domain's. */
    handle: handleOf(pd, 'ProtectionDomain', 'pd', SYSCALL),
    /** The completion queue's. */
    cq,
    /** The other attributes, with their defaults. */
    init: {
      /** See {@link WqType}. */
      wqType: WqType.RQ as number,
      ...attr,
    },
  };
}
