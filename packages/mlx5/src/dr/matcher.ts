import { fields, handleOf, maybe, or, Resource, u16, u32, u8, unchecked } from '@verbs/core/provider';
import { copyOf } from '../base/bytes.js';
import { done, made } from '../base/calls.js';
import type { MatchCriteria } from '../base/enums.js';
import { maskOf, type MatchValue } from '../match/match-value.js';
import { native, type NativeHandle } from '../native/index.js';
import { MatcherLayoutFlags } from './enums.js';
import type { Table } from './table.js';

/** The attributes of {@link dr.createMatcher}. */
export interface MatcherAttr {
  /** The bits that the rules compare; default none, so that every packet matches. */
  mask?: MatchValue;
  /** {@link MatchCriteria}, or-ed. Default: the parts of a mask by name; 0 for bytes. */
  matchCriteriaEnable?: MatchCriteria;
  /** Matchers with a smaller number are tried earlier; default 0. */
  priority?: number;
}

/** `struct mlx5dv_dr_matcher_layout`. */
export interface MatcherLayout {
  /** {@link dr.MatcherLayoutFlags}, or-ed; default NUM_RULE if `logNumOfRulesHint` is given. */
  flags?: MatcherLayoutFlags;
  /** The expected number of rules, as a power of two. */
  logNumOfRulesHint?: number;
}

const checkLayout = fields({ flags: maybe(u32()), logNumOfRulesHint: maybe(u32()) });
const checkAttr = fields({ mask: unchecked, matchCriteriaEnable: maybe(u8()), priority: or(u16(), 0) });

/**
 * `struct mlx5dv_dr_matcher`: the bits of packets that its rules compare. Made by {@link dr.createMatcher}; `close()` is
 * `mlx5dv_dr_matcher_destroy`.
 */
export class Matcher extends Resource {
  /** Its table. */
  readonly table: Table;
  /** Matchers with a lower number are tried earlier. */
  readonly priority: number;
  /** See {@link MatchCriteria}. */
  readonly matchCriteriaEnable: MatchCriteria;
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
    this.mask = copyOf(attr.mask);
  }

  /**
   * `mlx5dv_dr_matcher_set_layout`: the expected number of rules, so that the table need not grow.
   *
   * @throws VerbsError EOPNOTSUPP (a matcher of the root table), EINVAL
   */
  setLayout(layout: MatcherLayout): void {
    const syscall = 'mlx5dv_dr_matcher_set_layout';
    const matcher = this.use(syscall);
    const { logNumOfRulesHint: hint, ...given } = checkLayout(layout, 'layout');
    const flags = given.flags ?? (hint === undefined ? 0 : MatcherLayoutFlags.NUM_RULE);
    done(native.drMatcherSetLayout(matcher, flags, hint ?? 0), {
      library: this.table.domain.library(syscall),
      syscall,
    });
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
  const given = checkAttr(attr, 'attr');
  const { mask, matchCriteriaEnable } = maskOf(given.mask, 'attr.mask', given.matchCriteriaEnable);
  const { priority } = given;
  const result = native.drMatcherCreate(handle, priority, matchCriteriaEnable, mask);
  const matcher = made(result, { library: table.domain.library(syscall), syscall });
  return new Matcher(table, matcher, { priority, matchCriteriaEnable, mask });
}
