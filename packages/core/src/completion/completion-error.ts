import { errno } from '../base/errno.js';
import { VerbsError } from '../base/errors.js';
import type { WorkCompletion } from './work-completion.js';

/**
 * The rejection of `qp.send()` and `qp.recv()` when the request completes with another status than SUCCESS. `code` is
 * the status by its name, 'WC_RETRY_EXC_ERR'; `errno` is that of EIO.
 *
 * @example
 * try {
 *   await qp.send({ opcode: WrOpcode.SEND, sgList: [{ mr, length: 64 }] });
 * } catch (error) {
 *   if (error instanceof CompletionError) console.log(error.wc.statusText);
 * }
 */
export class CompletionError extends VerbsError {
  /** The completion. Only its `wrId`, `status`, `qpNum` and `vendorErr` are valid. */
  readonly wc: WorkCompletion;

  constructor(wc: WorkCompletion) {
    super(errno.EIO, 'ibv_poll_cq', {
      code: `WC_${wc.statusName}`,
      text: wc.statusText,
      detail: `of queue pair 0x${wc.qpNum.toString(16)}`,
    });
    this.wc = wc;
  }
}

Object.defineProperty(CompletionError.prototype, 'name', {
  value: 'CompletionError',
  configurable: true,
  writable: true,
});
