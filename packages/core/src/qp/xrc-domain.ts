import { checked } from '../base/errors.js';
import { brief } from '../base/inspection.js';
import { native, type NativeHandle } from '../base/native.js';
import { integer } from '../base/validate.js';
import { QpType } from '../enums/index.js';
import { Resource } from '../lifetime/resource.js';
import type { Context } from '../types/objects.js';
import { nativeQpInitAttr } from './qp-init-attr.js';
import { QueuePair } from './queue-pair.js';

/**
 * `ibv_xrcd`: the domain that the receiving queue pairs and the shared receive queues of the extended reliable
 * connection belong to. Created by {@link Context.openXrcd}; `close()` is `ibv_close_xrcd`.
 */
export class XrcDomain extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;

  /** @internal */
  constructor(context: Context, handle: NativeHandle) {
    super('XrcDomain', handle, 'ibv_close_xrcd', [context]);
    this.context = context;
  }

  /**
   * `ibv_create_qp_ex` of the receiving kind (IBV_QPT_XRC_RECV): it has no queues of its own.
   *
   * @throws VerbsError EOPNOTSUPP, ENOMEM (more queue pairs than the device has)
   * @example const qp = ctx.openXrcd().createQp();
   */
  createQp(): QueuePair<typeof QpType.XRC_RECV> {
    this.use('ibv_create_qp_ex');
    const attr = { qpType: QpType.XRC_RECV, xrcd: this, cap: { maxSendWr: 0, maxRecvWr: 0 } };
    const made = checked(native.createQp(nativeQpInitAttr(attr, 'attr')), 'ibv_create_qp_ex');
    return new QueuePair({ context: this.context, attr, made });
  }

  /**
   * `ibv_open_qp`: a receiving queue pair of this domain that another program created, by its number.
   *
   * @throws VerbsError EINVAL, ENOENT (no such queue pair), EOPNOTSUPP
   */
  openQp(qpNum: number): QueuePair<typeof QpType.XRC_RECV> {
    const xrcd = this.use('ibv_open_qp');
    integer(qpNum, 'qpNum', 0, 0xffffff);
    const made = checked(native.openQp(xrcd, qpNum, QpType.XRC_RECV), 'ibv_open_qp', {
      detail: `0x${qpNum.toString(16)}`,
    });
    const attr = { qpType: QpType.XRC_RECV, xrcd: this, cap: made.cap };
    return new QueuePair({ context: this.context, attr, made, opened: true });
  }

  protected override describe() {
    return { context: brief(this.context) };
  }
}
