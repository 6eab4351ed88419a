import { createFlow, createFlowMatcher, FlowTableType, type Mlx5Flow, openDevice } from '@verbs/mlx5';
import { configure } from '@verbs/soft';
import { decapRules } from './decap-rules.js';
import { EncapRules } from './encap-rules.js';
import { LossCounter } from './losses.js';
import { RawEnd } from './raw-end.js';
import type { DecapSpec, EncapSpec } from './spec.js';

export type Work = { encap: EncapSpec } | { decap: DecapSpec };

const SENDER = 'mlx5_soft0';
const RECEIVER = 'mlx5_soft1';
/** The common configuration: a switch of their own, which does not learn the addresses of a capture. */
const COMMON = 'kind=mlx5,mtu=4096,switch=reformat,learning=0,mtu_check=0';

/** Bytes of the longest frame that a queue pair sends at that MTU. */
export const LONGEST_FRAME = 4096 + 18;
/** A longer one comes out of an encapsulation. */
const SLOT_BYTES = 4608;

/**
 * Two software NICs on a switch: one sends, the other receives. Encapsulation is a matter of the sender's rules,
 * decapsulation of the receiver's.
 *
 * It sets the software NIC of this process up for that, so no device of it may be open.
 */
export class Devices implements Disposable {
  readonly sender: RawEnd;
  readonly receiver: RawEnd;
  readonly losses: LossCounter;
  /** The receiver's flow. It is held here, because a flow without a reference is collected and leaves the device. */
  readonly #flows: readonly Mlx5Flow[];
  /** The sender's, if it encapsulates. */
  readonly #rules: EncapRules | undefined;
  readonly #close: () => void;

  constructor(work: Work, slots: number) {
    configure(`${SENDER},${COMMON};${RECEIVER},${COMMON}`);
    const sending = openDevice(SENDER);
    const receiving = openDevice(RECEIVER);
    // Closing a context closes its objects.
    this.#close = () => {
      sending.close();
      receiving.close();
      configure(null);
    };
    try {
      this.sender = new RawEnd(sending, slots, SLOT_BYTES);
      this.receiver = new RawEnd(receiving, slots, SLOT_BYTES);
      this.losses = new LossCounter(SENDER, RECEIVER);
      if ('encap' in work) {
        this.#rules = new EncapRules(sending, work.encap);
        const every = createFlowMatcher(receiving, { ftType: FlowTableType.NIC_RX });
        this.#flows = [createFlow(every, undefined, [this.receiver.qp])];
      } else {
        this.#flows = decapRules(receiving, work.decap, this.receiver.qp);
      }
    } catch (error) {
      this.#close();
      throw error;
    }
  }

  /** To be called with each frame before it is sent. */
  prepare(frame: Uint8Array): void {
    this.#rules?.prepare(frame);
  }

  [Symbol.dispose](): void {
    for (const flow of this.#flows) flow.close();
    this.#close();
  }
}
