import { type SoftNic, softNic } from '@verbs/soft';

/** Frames that got lost, by the reason in the NIC's counters. */
export type Losses = Record<string, number>;

const DROPPED = /^dropped_(.*)$/;
/** Further causes of loss: in the switch, or at a queue pair. */
const OTHERS: readonly string[] = ['link_switch_overflow', 'link_switch_filtered', 'out_of_buffer'];

/** Counts the frames lost between two devices since its construction. */
export class LossCounter {
  readonly #nics: readonly [sender: SoftNic, receiver: SoftNic];
  readonly #before: Losses;

  constructor(sender: string, receiver: string) {
    this.#nics = [softNic(sender), softNic(receiver)];
    this.#before = this.#read();
  }

  /** The counters that are not 0. */
  since(): Losses {
    const now = this.#read();
    const lost = Object.entries(now).map(([reason, count]) => [reason, count - (this.#before[reason] ?? 0)] as const);
    return Object.fromEntries(lost.filter(([, count]) => count > 0));
  }

  #read(): Losses {
    const losses: Losses = {};
    this.#nics.forEach((nic, index) => {
      for (const [name, count] of Object.entries(nic.stats())) {
        const reason = DROPPED.exec(name)?.[1] ?? (OTHERS.includes(name) ? name : undefined);
        // A frame to a group comes back to its sender, which has no rule for it.
        if (reason === undefined || (index === 0 && reason === 'miss')) continue;
        losses[reason] = (losses[reason] ?? 0) + Number(count);
      }
    });
    return losses;
  }
}

export function total(losses: Losses): number {
  return Object.values(losses).reduce((sum, count) => sum + count, 0);
}
