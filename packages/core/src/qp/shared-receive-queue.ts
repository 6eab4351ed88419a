import { check, checked } from '../base/errors.js';
import { fields, maybe, or, range, u16, u24 } from '../base/fields.js';
import { brief, named, present, qpn } from '../base/inspection.js';
import { native } from '../base/native.js';
import { kElement } from '../base/symbols.js';
import { object } from '../base/validate.js';
import type { CompletionQueue } from '../completion/completion-queue.js';
import { SrqType } from '../enums/index.js';
import { handle, handleOf, Resource } from '../lifetime/resource.js';
import { failBatch, type Limits, postRequests, selectRequests } from '../posting/posting.js';
import type { RecvBatch } from '../posting/recv-batch.js';
import { writeRecv } from '../posting/request-records.js';
import type { ProtectionDomain, XrcDomain } from '../types/objects.js';
import type { RecvWr } from '../types/work-request.js';

/** `struct ibv_srq_init_attr` and `struct ibv_srq_init_attr_ex`. */
export interface SrqInitAttr {
  /** Outstanding requests, at least 1. */
  maxWr: number;
  /** Elements of a request, default 1. */
  maxSge?: number;
  /** Fewer requests than that raise SRQ_LIMIT_REACHED, once; default 0: never. */
  srqLimit?: number;
  /** The queue pairs that may use it; default BASIC. */
  srqType?: SrqType;
  /** XRC only: whose queue pairs may use it. */
  xrcd?: XrcDomain;
  /** XRC only: where the receives complete. */
  cq?: CompletionQueue;
}

/** `struct ibv_srq_attr`. */
export interface SrqAttr {
  /** Outstanding requests. */
  maxWr: number;
  /** Elements of a request. */
  maxSge: number;
  /** The armed limit: fewer requests than that raise SRQ_LIMIT_REACHED; 0 if none is armed, or it was raised. */
  srqLimit: number;
}

const SYSCALL = 'ibv_create_srq';

const initAttr = fields({
  maxWr: u24(1),
  maxSge: or(u16(), 1),
  srqLimit: or(u24(), 0),
  srqType: or(range(0, SrqType.TM), SrqType.BASIC),
  xrcd: maybe(handle('XrcDomain', SYSCALL)),
  cq: maybe(handle('CompletionQueue', SYSCALL)),
});
const changes = fields({ srqLimit: maybe(u24()), maxWr: maybe(u24()) });

const MAX_WR = 1 << 0;
const LIMIT = 1 << 1;

/**
 * `ibv_srq`: receive requests that several queue pairs share. Created by {@link ProtectionDomain.createSrq}; `close()`
 * is `ibv_destroy_srq`.
 */
export class SharedReceiveQueue extends Resource {
  /** The protection domain that it belongs to. */
  readonly pd: ProtectionDomain;
  /** See {@link SrqType}. */
  readonly srqType: SrqType;
  /** XRC: the number that a peer's requests name (`ibv_get_srq_num`). */
  readonly srqNum: number | undefined;
  /** Elements of a request: the number that the device granted, at least the requested one. */
  readonly maxSge: number;
  #maxWr: number;
  readonly #id: number;

  /** @internal */
  constructor(pd: ProtectionDomain, given: SrqInitAttr) {
    const attr = object(given, 'attr', initAttr.names) as unknown as SrqInitAttr;
    const made = create(pd, attr);
    const parents = [pd, attr.xrcd, attr.cq].filter((parent) => parent !== undefined);
    super('SharedReceiveQueue', made.handle, 'ibv_destroy_srq', parents);
    this.pd = pd;
    this.srqType = attr.srqType ?? SrqType.BASIC;
    this.srqNum = made.srqNum;
    this.maxSge = made.maxSge;
    this.#maxWr = made.maxWr;
    this.#id = made.id;
    pd.context[kElement](made.id, this);
  }

  /** Outstanding requests: the number that the device granted, at least the requested one. */
  get maxWr(): number {
    return this.#maxWr;
  }

  /**
   * `ibv_modify_srq`: arms the limit event, which happens once (`srqLimit`), or gives the queue another size (`maxWr`).
   *
   * @param attr `srqLimit`: requests; 0 disarms. `maxWr`: requests, at most `maxSrqWr` of `queryDevice()`
   * @throws VerbsError EINVAL (a limit above the size, or a size below the outstanding requests), EOPNOTSUPP
   * @example srq.modify({ srqLimit: 16 });
   */
  modify(attr: { srqLimit?: number; maxWr?: number }): void {
    const srq = this.use('ibv_modify_srq');
    const { srqLimit, maxWr } = changes(attr, 'attr');
    const mask = (srqLimit === undefined ? 0 : LIMIT) | (maxWr === undefined ? 0 : MAX_WR);
    const values = { maxWr: maxWr ?? 0, srqLimit: srqLimit ?? 0 };
    check(-Math.abs(native.modifySrq(srq, values, mask)), 'ibv_modify_srq');
    if (maxWr !== undefined) this.#maxWr = this.query().maxWr;
  }

  /**
   * `ibv_query_srq`: its size, and whether the limit is armed.
   *
   * @throws VerbsError with the library's errno
   * @example if (srq.query().srqLimit === 0) srq.modify({ srqLimit: 16 });
   */
  query(): SrqAttr {
    return checked(native.querySrq(this.use('ibv_query_srq')), 'ibv_query_srq');
  }

  /**
   * `ibv_post_srq_recv` of one or many requests.
   *
   * @throws TypeError, RangeError, VerbsError as {@link QueuePair.postRecv}; ENOMEM if the queue is full
   * @example srq.postRecv({ wrId: 1, sgList: [{ mr, length: 4096 }] });
   */
  postRecv(wr: RecvWr | readonly RecvWr[]): void {
    const srq = this.use('ibv_post_srq_recv');
    postRequests(wr, writeRecv, (batch, count) => native.postSrqRecv(srq, batch.bytes, count), this.#limits());
  }

  /**
   * `ibv_post_srq_recv` of the requests of a {@link RecvBatch}; as with {@link QueuePair.postSendBatch}.
   *
   * @throws TypeError, RangeError, VerbsError as {@link QueuePair.postSendBatch}
   * @example srq.postRecvBatch(receives);
   */
  postRecvBatch(batch: RecvBatch, first = 0, count?: number): void {
    const srq = this.use('ibv_post_srq_recv');
    const bytes = selectRequests(batch, 'RecvBatch', first, count);
    const code = native.postSrqRecv(srq, bytes, count ?? batch.capacity - first);
    if (code !== 0) failBatch(code, bytes, first, this.#limits());
  }

  #limits(): Limits {
    return { queue: this, syscall: 'ibv_post_srq_recv', maxSge: this.maxSge, maxWr: this.#maxWr };
  }

  protected override onClosed(): void {
    this.pd.context[kElement](this.#id, undefined);
  }

  protected override describe() {
    const { srqType, srqNum, maxWr, maxSge } = this;
    const number = srqNum === undefined ? undefined : qpn(srqNum);
    return present({ srqType: named(SrqType, srqType), srqNum: number, maxWr, maxSge, pd: brief(this.pd) });
  }
}

function create(pd: ProtectionDomain, value: unknown) {
  const { srqType, xrcd, cq, ...attr } = initAttr(value, 'attr');
  const basic = srqType === SrqType.BASIC;
  // The plain call does for a plain queue, and older libraries have no other.
  const init = { ...attr, srqType: basic ? -1 : srqType };
  const made = native.createSrq(handleOf(pd, 'ProtectionDomain', 'pd', SYSCALL), init, xrcd, cq);
  return checked(made, basic ? SYSCALL : 'ibv_create_srq_ex', { detail: `of ${attr.maxWr} requests` });
}
