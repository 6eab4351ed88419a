import { faultText } from './config.js';
import { check, SoftError } from './errors.js';
import { type FaultRule, parseRule } from './fault-rules.js';
import { native } from './native.js';

/** A rule in force, and what came of it so far. */
export interface FaultRuleState {
  /** What it was set to. */
  rule: FaultRule;
  /** As the configuration text has it. */
  text: string;
  /** Frames that matched, in both directions and at all ports of the device. */
  matched: bigint;
  /** Frames to which something was done. */
  hits: bigint;
}

/** The fault plan that is in force, and what it has done. */
export interface FaultPlanState {
  /** What the random numbers come from. */
  seed: bigint;
  /** The rules, in the plan's order. */
  rules: FaultRuleState[];
}

/** The fault plan of a device; see {@link SoftNic.faults}. */
export class Faults {
  readonly #device: string;

  constructor(device: string) {
    this.#device = device;
  }

  /**
   * Puts a plan in the place of the present one, from its beginning: what is counted starts at zero, and frames that the
   * old plan still held are lost. The same frames meet the same faults with the same seed (1 if none is given),
   * whatever the clock says. A text is one in the words of the configuration. Wraps `verbs_soft_set_faults`.
   *
   * @throws TypeError, RangeError that name the field of a rule; SoftError EINVAL for an opcode that there is not.
   * @example
   * nic.faults.set({ drop: true, opcode: 'RC SEND Only', nth: 3 });
   * nic.faults.set([{ drop: 0.02 }, { delay: 100, direction: 'both' }], { seed: 7 });
   */
  set(plan: string | FaultRule | readonly FaultRule[], options: { seed?: number | bigint } = {}): void {
    const text = typeof plan === 'string' ? plan : faultText(plan, options.seed);
    check(native().setFaults(this.#device, text), 'verbs_soft_set_faults');
  }

  /** Takes the plan off. */
  clear(): void {
    this.set('');
  }

  /**
   * The plan in force, with how often its rules matched and hit since it was set. Wraps `verbs_soft_get_faults`.
   *
   * @example
   * if (nic.faults.get().rules[0]?.hits === 0n) throw new Error('the packet that was to be lost never came');
   */
  get(): FaultPlanState {
    const plan = native().getFaults(this.#device);
    if (typeof plan === 'number') throw new SoftError(plan, 'verbs_soft_get_faults', native().lastError());
    return { seed: plan.seed, rules: plan.rules.map((state) => ({ rule: parseRule(state.text), ...state })) };
  }
}
