import { errno } from '../base/errno.js';
import { VerbsError } from '../base/errors.js';
import { enumName, WcStatus, WrOpcode } from '../enums/index.js';
import { operationMissing } from '../reasons/post-reason.js';
import { rightHint, statusHint } from '../reasons/status-hint.js';
import type { WorkCompletion } from './work-completion.js';

/**
 * The rejection of `qp.send()` and `qp.recv()` when the request completes with another status than SUCCESS. `code` is
 * the status by its name, 'WC_RETRY_EXC_ERR'; `errno` is that of EIO. The message names the operation, the `wrId` and the
 * queue pair, and says what to look at first; on the software NIC also what it has found wrong, at the peer's end as well if
 * that is at the same device.
 *
 * @example
 * try {
 *   await qp.send({ opcode: WrOpcode.SEND, sgList: [{ mr, length: 64 }] });
 * } catch (error) {
 *   if (error instanceof CompletionError) console.log(error.operation, error.wc.statusText);
 * }
 */
export class CompletionError extends VerbsError {
  /** The completion. Only its `wrId`, `status`, `qpNum` and `vendorErr` are valid. */
  readonly wc: WorkCompletion;
  /** What the request was: the name of its {@link WrOpcode}, or 'RECV'. A failed completion does not say it. */
  readonly operation: string;

  /**
   * @internal `request`: what the completion does not have. Without `opcode` it was a receive request. `why`: what the
   * software NIC knows.
   */
  constructor(
    wc: WorkCompletion,
    {
      opcode,
      qpType,
      why,
    }: { opcode?: number | undefined; qpType?: number | undefined; why?: string | undefined } = {},
  ) {
    const operation = opcode === undefined ? 'RECV' : enumName(WrOpcode, opcode);
    const missing =
      wc.status === WcStatus.LOC_QP_OP_ERR && opcode !== undefined && qpType !== undefined
        ? operationMissing(qpType, opcode)
        : undefined;
    const hint = missing ?? (opcode === undefined ? undefined : rightHint(wc.status, opcode)) ?? statusHint(wc.status);
    super(errno.EIO, 'ibv_poll_cq', {
      code: `WC_${wc.statusName}`,
      text: wc.statusText,
      detail: `of ${operation} (wrId ${wc.wrId}) on queue pair 0x${wc.qpNum.toString(16)}`,
      hint: why === undefined || missing !== undefined ? hint : [why, hint].filter(Boolean).join('; '),
    });
    this.wc = wc;
    this.operation = operation;
  }
}

Object.defineProperty(CompletionError.prototype, 'name', {
  value: 'CompletionError',
  configurable: true,
  writable: true,
});
