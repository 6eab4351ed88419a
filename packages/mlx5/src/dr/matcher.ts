import { handleOf, Resource, validate } from '@verbs/core/provider';
import { done, made } from '../base/calls.js';
import { maskOf, type MatchValue } from '../match/match-value.js';
import { native, type NativeHandle } from '../native/index.js';
import { MatcherLayoutFlags } from './enums.js';
import type { Table } from './table.js';

/** What {@link dr.createMatcher} takes. */
export interface MatcherAttr {
  /** What the rules look at; default nothing, so that they take every packet. */
  mask?: MatchValue;
  /** {@link MatchCriteria}, or-ed; default those that a mask by name uses, and 0 for bytes. */
  matchCriteriaEnable?: number;
  /** The smallest first, default 0. */
  priority?: number;
}

/** `struct mlx5dv_dr_matcher_layout`. */
export interface MatcherLayout {
  /** {@link dr.MatcherLayoutFlags}, or-ed; default what `logNumOfRulesHint` needs. */
  flags?: number;
  /** So many rules are expected, as a power of two. */
  logNumOfRulesHint?: number;
}

/**
 * `struct mlx5dv_dr_matcher`: which bits of packets its rules compare. Made by {@link dr.createMatcher}; `close()` is
 * `mlx5dv_dr_matcher_destroy`.
 */
export class Matcher extends Resource {
  /** The table that it is in. */
  readonly table: Table;
  /** The lower it is, the earlier it is tried. */
  readonly priority: number;
  /** See {@link MatchCriteria}. */
  readonly matchCriteriaEnable: number;
  /** A copy of the mask. */
  readonly mask: Uint8Array;

  /** @internal */
  constructor(
    table: Table,
    handle: NativeHandle,
    attr: { priority: number; matchCriteriaEnable: number; mask: Uint8Array },
  ) {
    super('Matcher', handle, 'mlx5dv_dr_matcher_destroy', [table]);
    this.table = table;
    this.priority = attr.priority;
    this.matchCriteriaEnable = attr.matchCriteriaEnable;
    this.mask = attr.mask.slice();
  }

  /**
   * `mlx5dv_dr_matcher_set_layout`: how many rules there will be, so that its table need not grow.
   *
   * @throws VerbsError EOPNOTSUPP (a matcher of the root table), EINVAL
   */
  setLayout(layout: MatcherLayout): void {
    const syscall = 'mlx5dv_dr_matcher_set_layout';
    const matcher = this.use(syscall);
    const given = validate.object(layout, 'layout', ['flags', 'logNumOfRulesHint']);
    const implied = given['logNumOfRulesHint'] === undefined ? 0 : MatcherLayoutFlags.NUM_RULE;
    const flags = validate.optional(given['flags'], 'layout.flags', 0xffffffff, implied);
    const hint = validate.optional(given['logNumOfRulesHint'], 'layout.logNumOfRulesHint', 0xffffffff, 0);
    done(native.drMatcherSetLayout(matcher, flags, hint), { library: this.table.domain.library(syscall), syscall });
  }

  /** `mlx5dv_dump_dr_matcher`: as {@link Domain.dump}. */
  dump(): string {
    const syscall = 'mlx5dv_dump_dr_matcher';
    return made(native.dumpDrMatcher(this.use(syscall)), { library: this.table.domain.library(syscall), syscall });
  }

  protected override describe(): Record<string, unknown> {
    const { priority, matchCriteriaEnable, mask } = this;
    return { priority, matchCriteriaEnable, maskSize: mask.byteLength };
  }
}

/**
 * `mlx5dv_dr_matcher_create`.
 *
 * @throws TypeError, RangeError for a field that is misspelt or out of its range
 * @throws VerbsError EINVAL (a size that is no multiple of 4, fields of parts that are not enabled), EOPNOTSUPP (a field
 *   that the device cannot match)
 * @example
 * const table = dr.createTable(domain, 1);
 * const matcher = dr.createMatcher(table, { mask: { outer: { smac: { mask: 'ff:ff:ff:ff:ff:ff' } } } });
 */
export function createMatcher(table: Table, attr: MatcherAttr = {}): Matcher {
  const syscall = 'mlx5dv_dr_matcher_create';
  const handle = handleOf(table, 'Table', 'table', syscall);
  const given = validate.object(attr, 'attr', ['mask', 'matchCriteriaEnable', 'priority']);
  const enable = given['matchCriteriaEnable'];
  const criteria = enable === undefined ? undefined : validate.integer(enable, 'attr.matchCriteriaEnable', 0, 0xff);
  const { mask, matchCriteriaEnable } = maskOf(given['mask'], 'attr.mask', criteria);
  const priority = validate.optional(given['priority'], 'attr.priority', 0xffff, 0);
  const result = native.drMatcherCreate(handle, priority, matchCriteriaEnable, mask);
  const matcher = made(result, { library: table.domain.library(syscall), syscall });
  return new Matcher(table, matcher, { priority, matchCriteriaEnable, mask });
}
