import { inspect } from 'node:util';
import type { CompletionQueue } from './completion-queue.js';
import { type ActivateOptions, activateSteps, type ConnectOptions, connectSteps } from './connect.js';
import { enumName, QpType } from './enums.js';
import { check, checked, VerbsError } from './errors.js';
import { native, type NativeCap, type NativeHandle } from './native.js';
import { postError } from './post-errors.js';
import type { ProtectionDomain } from './protection-domain.js';
import { type FullQpAttr, nativeQpAttr, publicQpAttr, type QpAttr } from './qp-attr.js';
import type { QpCap } from './qp-init-attr.js';
import { BatchWriter } from './records.js';
import { Resource } from './resource.js';
import { integer } from './validate.js';
import type { RecvWr, SendWr } from './work-request.js';
import { kElement } from './symbols.js';

/** All queue pairs of this thread write into one batch. */
const shared = new BatchWriter();
let sharedBusy = false;

/** The bits that every kernel takes. */
const ALL_ATTRIBUTES = (1 << 21) - 1;

/**
 * `ibv_qp`: where work requests are posted. Made by {@link ProtectionDomain.createQp}; `close()` is `ibv_destroy_qp`.
 *
 * The memory of a posted request stays valid until its completion was polled, or that of a later signaled request of
 * the same queue, whatever becomes of the JavaScript objects meanwhile. The same holds for the queue's room: at most
 * `cap.maxSendWr` requests are outstanding in that sense.
 */
export class QueuePair extends Resource {
  readonly pd: ProtectionDomain;
  readonly sendCq: CompletionQueue;
  readonly recvCq: CompletionQueue;
  /** See {@link QpType}. */
  readonly qpType: number;
  /** 24 bits: what a peer calls it. */
  readonly qpNum: number;
  /** What the device gave, at least what was asked for. */
  readonly cap: Readonly<Required<QpCap>>;
  readonly #id: number;

  /** @internal */
  constructor(
    pd: ProtectionDomain,
    sendCq: CompletionQueue,
    recvCq: CompletionQueue,
    qpType: number,
    made: { handle: NativeHandle; id: number; qpNum: number; cap: NativeCap },
  ) {
    super('QueuePair', made.handle, 'ibv_destroy_qp', [pd, sendCq, recvCq]);
    this.pd = pd;
    this.sendCq = sendCq;
    this.recvCq = recvCq;
    this.qpType = qpType;
    this.qpNum = made.qpNum;
    this.cap = made.cap;
    this.#id = made.id;
    pd.context[kElement](made.id, this);
  }

  /**
   * `ibv_modify_qp` with the mask of the given fields.
   *
   * @throws TypeError, RangeError for a field that is misspelt or out of its range, by its name
   * @throws VerbsError EINVAL if the fields do not fit the transition, ETIMEDOUT, ENETUNREACH, ENODATA
   * @example
   * qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: AccessFlags.REMOTE_WRITE });
   */
  modify(attr: QpAttr): void {
    const qp = this.use('ibv_modify_qp');
    const { attr: fields, mask } = nativeQpAttr(attr, 'attr');
    // Positive errno values by the manual; some providers give -1 or a negated one.
    check(-Math.abs(native.modifyQp(qp, fields, mask)), 'ibv_modify_qp', {
      detail: attr.qpState === undefined ? undefined : `to state ${attr.qpState}`,
    });
  }

  /** `ibv_query_qp`: all attributes, or with a {@link QpAttrMask} at least those. */
  query(mask = ALL_ATTRIBUTES): {
    attr: FullQpAttr;
    initAttr: { qpType: number; sqSigAll: boolean; cap: Required<QpCap> };
  } {
    const qp = this.use('ibv_query_qp');
    integer(mask, 'mask', 0, 0x7fffffff);
    const { attr, initAttr } = checked(native.queryQp(qp, mask), 'ibv_query_qp');
    return { attr: publicQpAttr(attr), initAttr };
  }

  /**
   * Brings an RC or UC queue pair from RESET to RTS: three calls of `modify` with the usual values.
   *
   * @example
   * qp.connect({ remote: { qpNum, psn, gid }, psn: myPsn, pathMtu: Mtu.MTU_4096 });
   */
  connect(options: ConnectOptions): void {
    if (this.qpType !== QpType.RC && this.qpType !== QpType.UC) {
      throw new VerbsError(22, 'ibv_modify_qp', { hint: 'connect() is for RC and UC; a UD queue pair has activate()' });
    }
    for (const step of connectSteps(options, this.qpType)) this.modify(step);
  }

  /**
   * Brings a UD queue pair from RESET to RTS: three calls of `modify`.
   *
   * @example qp.activate({ qkey: 0x11111111 });
   */
  activate(options: ActivateOptions): void {
    if (this.qpType !== QpType.UD) {
      throw new VerbsError(22, 'ibv_modify_qp', { hint: 'activate() is for UD; an RC or UC queue pair has connect()' });
    }
    for (const step of activateSteps(options)) this.modify(step);
  }

  /**
   * `ibv_post_send` of one or many requests, in their order, in one native call.
   *
   * If one is refused, those before it are posted, as in C: the error's `posted` tells how many. Errors in the values
   * themselves are found before anything is posted.
   *
   * @throws TypeError, RangeError with the argument's path, for instance `wr[2].sgList[0]`
   * @throws VerbsError ENOMEM (the queue is full), EINVAL (state, type or limits of the queue pair)
   * @example
   * qp.postSend({ opcode: WrOpcode.SEND, wrId: 7, sendFlags: SendFlags.SIGNALED, sgList: [{ mr, length: 64 }] });
   */
  postSend(wr: SendWr | readonly SendWr[]): void {
    const qp = this.use('ibv_post_send');
    const ud = this.qpType === QpType.UD;
    const write = (batch: BatchWriter, one: unknown, path: string) => {
      batch.send(one, path, ud);
    };
    post(wr, write, (batch, count) => native.postSend(qp, batch.bytes, count), {
      syscall: 'ibv_post_send',
      maxSge: this.cap.maxSendSge,
      maxWr: this.cap.maxSendWr,
    });
  }

  /**
   * `ibv_post_recv` of one or many requests; errors as with {@link QueuePair.postSend}.
   *
   * @example qp.postRecv([{ wrId: 1, sgList: [{ mr, offset: 0, length: 4096 }] }]);
   */
  postRecv(wr: RecvWr | readonly RecvWr[]): void {
    const qp = this.use('ibv_post_recv');
    const write = (batch: BatchWriter, one: unknown, path: string) => {
      batch.recv(one, path);
    };
    post(wr, write, (batch, count) => native.postRecv(qp, batch.bytes, count), {
      syscall: 'ibv_post_recv',
      maxSge: this.cap.maxRecvSge,
      maxWr: this.cap.maxRecvWr,
    });
  }

  protected override onClosed(): void {
    this.pd.context[kElement](this.#id, undefined);
  }

  protected override describe() {
    return {
      qpType: { [inspect.custom]: () => enumName(QpType, this.qpType) },
      qpNum: { [inspect.custom]: () => `0x${this.qpNum.toString(16)}` },
      cap: this.cap,
    };
  }
}

type Write = (batch: BatchWriter, wr: unknown, path: string) => void;
type Call = (batch: BatchWriter, count: number) => number;

function post(wr: unknown, write: Write, call: Call, about: { syscall: string; maxSge: number; maxWr: number }): void {
  // A getter in a request may post on its own: then the shared batch is not free.
  const batch = sharedBusy ? new BatchWriter() : shared;
  const mine = batch === shared;
  sharedBusy = true;
  try {
    batch.reset();
    let count = 1;
    if (Array.isArray(wr)) {
      count = wr.length;
      for (let i = 0; i < count; i++) write(batch, wr[i], `wr[${i}]`);
    } else {
      write(batch, wr, 'wr');
    }
    const code = call(batch, count);
    if (code === 0) return;
    const { posted, badSge: sge } = batch;
    throw postError({ code, posted, sge, path: Array.isArray(wr) ? `wr[${posted}]` : 'wr', ...about });
  } finally {
    if (mine) sharedBusy = false;
  }
}
