import { onlyFields, valueError } from './arguments.js';
import { faultText } from './config.js';
import { check, SoftError } from './errors.js';
import { type FaultRule, parseRule } from './fault-rules.js';
import { native } from './native.js';

/** A rule of the present plan with its counters. */
export interface FaultRuleState {
  /** The rule. */
  rule: FaultRule;
  /** Its text in the configuration. */
  text: string;
  /** Frames that matched, in both directions and at all ports of the device. */
  matched: bigint;
  /** Frames to which the rule applied. */
  hits: bigint;
}

/** The present fault plan with its counters. */
export interface FaultPlanState {
  /** The seed of the random numbers. */
  seed: bigint;
  /** The rules in the order of the plan. */
  rules: FaultRuleState[];
}

/** The fault plan of a device; see {@link SoftNic.faults}. */
export class Faults {
  readonly #device: string;

  constructor(device: string) {
    this.#device = device;
  }

  /**
   * Replaces the present plan. The new plan starts from its seed (default 1) with counters at zero; frames that the old
   * plan delays are lost. With the same seed, the same frames meet the same faults, independent of the clock. A string
   * is the plan's text in the configuration. Wraps `verbs_soft_set_faults`.
   *
   * @throws TypeError, RangeError that name the field of a rule or the option; SoftError EINVAL for an unknown opcode.
   * @example
   * nic.faults.set({ drop: true, opcode: 'RC SEND Only', nth: 3 });
   * nic.faults.set([{ drop: 0.02 }, { delay: 100, direction: 'both' }], { seed: 7 });
   */
  set(plan: string | FaultRule | readonly FaultRule[], options: { seed?: number | bigint } = {}): void {
    onlyFields('options', options, ['seed']);
    if (typeof plan === 'string' && options.seed !== undefined) {
      throw valueError('options.seed', 'is for rules; a text has its seed in itself: "drop=0.02,seed=7"');
    }
    const text = typeof plan === 'string' ? plan : faultText(plan, options.seed);
    check(native().setFaults(this.#device, text), 'verbs_soft_set_faults');
  }

  /** Removes the plan. */
  clear(): void {
    this.set('');
  }

  /**
   * The present plan with the counters of its rules since it was set. Wraps `verbs_soft_get_faults`.
   *
   * @example
   * if (nic.faults.get().rules[0]?.hits === 0n) throw new Error('no packet matched the rule');
   */
  get(): FaultPlanState {
    const plan = native().getFaults(this.#device);
    if (typeof plan === 'number') throw new SoftError(plan, 'verbs_soft_get_faults', native().lastError());
    return { seed: plan.seed, rules: plan.rules.map((state) => ({ rule: parseRule(state.text), ...state })) };
  }
}
