import { handleOf, Resource, validate } from '@verbs/core/provider';
import { copyOf } from '../base/bytes.js';
import { made } from '../base/calls.js';
import { type MatchValue, valueOf } from '../match/match-value.js';
import { native, type NativeHandle } from '../native/index.js';
import type { Action } from './action.js';
import type { Matcher } from './matcher.js';
import { refusedRule } from './refused-rule.js';

/** Far above what a library takes. */
const MOST_ACTIONS = 0xffff;

/**
 * `struct mlx5dv_dr_rule`: applies its actions to the packets that match. Made by {@link dr.createRule}; `close()` is
 * `mlx5dv_dr_rule_destroy`. It keeps the matcher and the actions; closing one of these closes the rule first.
 */
export class Rule extends Resource {
  /** Its matcher. */
  readonly matcher: Matcher;
  /** In their order. */
  readonly actions: readonly Action[];
  /** A copy of the value. */
  readonly value: Uint8Array;

  /** @internal */
  constructor(matcher: Matcher, handle: NativeHandle, value: Uint8Array, actions: readonly Action[]) {
    super('Rule', handle, 'mlx5dv_dr_rule_destroy', [...new Set([matcher, ...actions])]);
    this.matcher = matcher;
    this.value = copyOf(value);
    this.actions = [...actions];
  }

  /** `mlx5dv_dump_dr_rule`: as {@link Domain.dump}. */
  dump(): string {
    const syscall = 'mlx5dv_dump_dr_rule';
    const library = this.matcher.table.domain.library(syscall);
    return made(native.dumpDrRule(this.use(syscall)), { library, syscall });
  }

  protected override describe(): Record<string, unknown> {
    return { priority: this.matcher.priority, actions: this.actions.map(({ kind }) => kind) };
  }
}

/**
 * `mlx5dv_dr_rule_create`: applies the actions, in their order, to packets with `value` in the bits of the matcher's mask.
 *
 * @param value match parameters by name, or bytes; default zeros, which is right for an empty mask
 * @throws VerbsError EINVAL, EOPNOTSUPP (actions that cannot follow each other), EEXIST (the same match is there, see
 *   {@link Domain.allowDuplicateRules}), EPERM
 * @example
 * const table = dr.createTable(domain, 1);
 * const matcher = dr.createMatcher(table, { mask: { outer: { smac: { mask: 'ff:ff:ff:ff:ff:ff' } } } });
 * const toQp = dr.createActionDestIbvQp(domain, qp);
 * const rule = dr.createRule(matcher, { outer: { smac: '24:8a:07:a5:28:c8' } }, [toQp]);
 */
export function createRule(matcher: Matcher, value: MatchValue | undefined, actions: readonly Action[]): Rule {
  const syscall = 'mlx5dv_dr_rule_create';
  const handle = handleOf(matcher, 'Matcher', 'matcher', syscall);
  const bytes = valueOf(value, 'value', matcher.mask.byteLength);
  const given = validate.elements(actions, 'actions', 'an array', MOST_ACTIONS);
  const handles = given.map((action, i) => handleOf(action, 'Action', `actions[${i}]`, syscall));
  const library = matcher.table.domain.library(syscall);
  const list = given as readonly Action[];
  const detail = `with actions ${list.map(({ kind }) => kind).join(', ')}`;
  const result = native.drRuleCreate(handle, bytes, handles);
  const hint = refusedRule(result, { matcher, value: bytes, actions: list });
  const rule = made(result, { library, syscall, detail, hint });
  return new Rule(matcher, rule, bytes, list);
}
