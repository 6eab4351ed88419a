import { check, checked } from '../base/errors.js';
import { fields, maybe, or, range, u16, u24, u32, u64, unchecked } from '../base/fields.js';
import { brief, named, present, qpn } from '../base/inspection.js';
import { native } from '../base/native.js';
import { kElement } from '../base/symbols.js';
import { boolean, object, u64 as checkU64, valueError } from '../base/validate.js';
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
  /** XRC and TM only: where the receives complete. */
  cq?: CompletionQueue;
  /** TM only (`struct ibv_tm_cap`): tagged buffers, and their operations whose completions were not polled. */
  tagMatching?: TagMatching;
}

/** `struct ibv_tm_cap`; `tmCaps` of `ctx.queryDeviceEx()` has the limits. */
export interface TagMatching {
  /** `max_num_tags`: tagged buffers in the list, at least 1. */
  maxTags: number;
  /** `max_ops`: signaled operations whose completions were not polled, at least 1. */
  maxOps: number;
}

/** A tagged buffer: {@link SharedReceiveQueue.addTag}. */
export interface TagWr extends RecvWr {
  /** A message is for this buffer if its tag, and-ed with `mask`, is this. */
  tag: bigint | number;
  /** The bits of a message's tag that count; default all. */
  mask?: bigint | number;
  /** The unexpected messages that the program has handled, of all that there ever were (IBV_OPS_TM_SYNC). */
  unexpectedCnt?: number;
  /** The addition completes, too, with `wrId` and WcOpcode.TM_ADD (IBV_OPS_SIGNALED); default false. */
  signaled?: boolean;
}

/** What operations on tagged buffers may have. */
export interface TagOptions {
  /** Of the completion of the operation; default 0. */
  wrId?: bigint | number;
  /** See {@link TagWr}. */
  unexpectedCnt?: number;
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
  tagMatching: maybe(fields({ maxTags: u32(1), maxOps: u32(1) })),
});
const changes = fields({ srqLimit: maybe(u24()), maxWr: maybe(u24()) });

const tagWr = fields({
  tag: u64(),
  mask: or(u64(), 0xffff_ffff_ffff_ffffn),
  unexpectedCnt: maybe(u32()),
  signaled: (value, path) => boolean(value, path, false),
  // As of any receive request.
  wrId: unchecked,
  sgList: unchecked,
});
const tagOptions = fields({ wrId: or(checkU64, 0), unexpectedCnt: maybe(u32()) });
const syncOptions = fields({ wrId: maybe(checkU64) });
/** Where the addon puts the handle of an added buffer. */
const added = new Uint32Array(1);
const POST_OPS = 'ibv_post_srq_ops';
/** `enum ibv_ops_wr_opcode`. */
const TAG_DEL = 1;
const TAG_SYNC = 2;
/** `enum ibv_ops_flags`. */
const SIGNALED = 1 << 0;
const TM_SYNC = 1 << 1;

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
  /** TM: the size of its list, and of that of its operations. */
  readonly tagMatching: Readonly<TagMatching> | undefined;
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
    this.tagMatching = made.tagMatching;
    this.#maxWr = made.maxWr;
    this.#id = made.id;
    pd.context[kElement](made.id, this);
  }

  /** Outstanding requests: the number that the device granted, at least the requested one. */
  get maxWr(): number {
    return this.#maxWr;
  }

  /**
   * `ibv_modify_srq`: arms the limit event, which happens once (`srqLimit`), or gives the queue another size (`maxWr`). The event
   * comes at once while fewer requests than the limit are posted: post first, then arm.
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

  /**
   * `ibv_post_srq_ops` with `IBV_WR_TAG_ADD`: adds a tagged buffer to the list of a queue of type TM. A message of an RC
   * queue pair goes to the first buffer that its tag matches, without its header; one that no buffer matches goes to a
   * receive request, with its header. The buffer completes with `wrId` and WcOpcode.TM_RECV: once, with TM_MATCH and
   * TM_DATA_VALID, or twice, first with TM_MATCH. Its memory stays valid until then.
   *
   * @returns its handle, for {@link deleteTag}
   * @throws TypeError, RangeError; VerbsError ENOMEM (the list or that of the operations is full), EINVAL (no queue of type
   *   TM), EOPNOTSUPP
   * @example
   * const cq = ctx.createCq(64, { wcFlags: 0x7f | WcExFlags.TM_INFO });
   * const tagMatching = { maxTags: 16, maxOps: 16 };
   * const srq = pd.createSrq({ maxWr: 16, srqType: SrqType.TM, cq, tagMatching });
   * srq.addTag({ wrId: 1, tag: 0x1234n, mask: 0xffffn, sgList: [{ mr, length: 4096 }] });
   */
  addTag(wr: TagWr): number {
    const srq = this.use(POST_OPS);
    const { tag, mask, signaled, unexpectedCnt, ...request } = tagWr(wr, 'wr');
    const flags = flagsOf(signaled, unexpectedCnt);
    postRequests(
      request,
      writeRecv,
      (batch) => native.addSrqTag(srq, batch.bytes, tag, mask, flags, unexpectedCnt ?? 0, added),
      {
        queue: this,
        syscall: POST_OPS,
        maxSge: 1,
        maxWr: this.tagMatching?.maxTags ?? 0,
        reason: () => this.#lacksTags(),
      },
    );
    return added[0] ?? 0;
  }

  /**
   * `ibv_post_srq_ops` with `IBV_WR_TAG_DEL`: takes a buffer out of the list again. It completes with `wrId` and
   * WcOpcode.TM_DEL, or fails with WcStatus.TM_ERR if a message has taken the buffer.
   *
   * @param tag what {@link addTag} has returned
   * @throws TypeError, RangeError; VerbsError ENOENT (its completion was polled), ENOMEM, EINVAL, EOPNOTSUPP
   * @example
   * const tag = srq.addTag({ wrId: 1, tag: 7, sgList: [{ mr }] });
   * srq.deleteTag(tag, { wrId: 2 });
   */
  deleteTag(tag: number, options: TagOptions = {}): void {
    const { wrId, unexpectedCnt } = tagOptions(options, 'options');
    this.#operate(TAG_DEL, u32()(tag, 'tag'), true, unexpectedCnt, wrId);
  }

  /**
   * `ibv_post_srq_ops` with `IBV_WR_TAG_SYNC`: tells the device how many unexpected messages the program has handled, of
   * all that there ever were: those with WcOpcode.TM_RECV and neither TM_MATCH nor TM_DATA_VALID. Buffers that were added
   * after one of which the program did not know are matched from then on. With `wrId` it completes, with
   * WcOpcode.TM_SYNC.
   *
   * @throws TypeError, RangeError; VerbsError ENOMEM, EINVAL, EOPNOTSUPP
   * @example srq.syncTags(1);
   */
  syncTags(unexpectedCnt: number, options: { wrId?: bigint | number } = {}): void {
    const { wrId } = syncOptions(options, 'options');
    this.#operate(TAG_SYNC, 0, wrId !== undefined, u32()(unexpectedCnt, 'unexpectedCnt'), wrId ?? 0);
  }

  #operate(
    opcode: number,
    tag: number,
    signaled: boolean,
    unexpectedCnt: number | undefined,
    wrId: bigint | number,
  ): void {
    const srq = this.use(POST_OPS);
    const flags = flagsOf(signaled, unexpectedCnt);
    const isNumber = typeof wrId === 'number';
    const result = native.postSrqOp(srq, opcode, tag, flags, unexpectedCnt ?? 0, wrId, isNumber);
    check(result, POST_OPS, { hint: this.#lacksTags() });
  }

  #lacksTags(): string | undefined {
    return this.tagMatching === undefined
      ? 'the queue has no tagged buffers: create it with SrqType.TM, cq and tagMatching'
      : undefined;
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
    const tags = this.tagMatching;
    return present({
      srqType: named(SrqType, srqType),
      srqNum: number,
      maxWr,
      maxSge,
      tagMatching: tags,
      pd: brief(this.pd),
    });
  }
}

function flagsOf(signaled: boolean, unexpectedCnt: number | undefined): number {
  return (signaled ? SIGNALED : 0) | (unexpectedCnt === undefined ? 0 : TM_SYNC);
}

function create(pd: ProtectionDomain, value: unknown) {
  const { srqType, xrcd, cq, tagMatching, ...attr } = initAttr(value, 'attr');
  const basic = srqType === SrqType.BASIC;
  const [stray] = Object.entries({ cq, xrcd, tagMatching }).flatMap(([name, given]) =>
    given === undefined ? [] : name,
  );
  if (basic && stray !== undefined) throw valueError(`attr.${stray}`, 'is of no use without srqType: XRC or TM');
  const { maxTags = 0, maxOps = 0 } = (srqType === SrqType.TM ? tagMatching : undefined) ?? {};
  // The plain call does for a plain queue, and older libraries have no other.
  const init = { ...attr, srqType: basic ? -1 : srqType, maxTags, maxOps };
  const result = native.createSrq(handleOf(pd, 'ProtectionDomain', 'pd', SYSCALL), init, xrcd, cq);
  const made = checked(result, basic ? SYSCALL : 'ibv_create_srq_ex', { detail: `of ${attr.maxWr} requests` });
  return { ...made, tagMatching: maxTags === 0 ? undefined : { maxTags, maxOps } };
}
