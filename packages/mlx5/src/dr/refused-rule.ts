import type { Context } from '@verbs/core';
import { coreNative } from '@verbs/core/provider';
import { bitOutside } from '../match/match-value.js';
import { Action } from './action.js';
import { ActionFlags, DomainType } from './enums.js';
import type { Matcher } from './matcher.js';
import { Table } from './table.js';

/** A call of `createRule` that the library refused. */
interface RefusedRule {
  matcher: Matcher;
  value: Uint8Array;
  actions: readonly Action[];
}

/** Bytes of a part of the match parameters: a bit of the criteria enables each. */
const PART = 64;
/** What the library cannot translate into an action of a flow, as a root table's rules need. */
const NOT_AT_ROOT: ReadonlySet<string> = new Set(['push_vlan', 'pop_vlan', 'flow_meter', 'flow_sampler']);
/** The C functions of all other actions take no domain. */
const OF_DOMAIN: ReadonlySet<string> = new Set([
  'dest_array',
  'dest_ib_port',
  'dest_root_table',
  'dest_table',
  'dest_vport',
  'flow_meter',
  'flow_sampler',
  'modify_header',
  'packet_reformat',
  'push_vlan',
]);
/** Actions that a rule may have more than once. */
const MOST: Readonly<Record<string, number>> = { push_vlan: 2, pop_vlan: 2 };

/** What of the call explains its error; undefined where only the general remedy of that error is left. */
export function refusedRule(result: unknown, rule: RefusedRule): string | undefined {
  switch (typeof result === 'number' ? coreNative.errnoName(-result) : undefined) {
    case 'EINVAL':
      return wrongValue(rule) ?? wrongAction(rule) ?? repeated(rule) ?? unsent(rule);
    case 'EOPNOTSUPP':
      return rule.matcher.table.level === 0 ? notAtRoot(rule) : undefined;
    default:
      return undefined;
  }
}

/** Parts that the criteria do not enable are not looked at, and bytes that the value lacks are zero. */
function wrongValue({ matcher: { mask, matchCriteriaEnable, table }, value }: RefusedRule): string | undefined {
  const { byteLength } = value;
  if (byteLength === 0) return 'the value has no bytes: give as many as the mask has';
  if (table.level !== 0 && byteLength % 4 !== 0) return `the value has ${byteLength} bytes, no multiple of 4`;
  return bitOutside(
    value.map((byte, i) => ((matchCriteriaEnable >> Math.floor(i / PART)) & 1) * byte),
    mask,
  );
}

function wrongAction({ matcher: { table }, actions }: RefusedRule): string | undefined {
  for (const [i, action] of actions.entries()) {
    const wrong = foreign(action, table) ?? wrongLevel(action, table);
    if (wrong !== undefined) return `actions[${i}] ${wrong}`;
  }
  return undefined;
}

function foreign({ domain, kind, others }: Action, table: Table): string | undefined {
  const tables = others.filter((each) => each instanceof Table);
  const bound = OF_DOMAIN.has(kind) ? [domain, ...tables.map((each) => each.domain)] : [];
  if (bound.some((each) => each !== table.domain)) return "is of another domain than the matcher's table";
  // A counter's number is the device's, also for another context.
  const used = kind === 'flow_counter' ? [] : others;
  const contexts = [domain, ...used].flatMap((each) => (each as { context?: Context }).context ?? []);
  return contexts.some((each) => each !== table.domain.context) ? 'is of another open device' : undefined;
}

function wrongLevel(action: Action, { level }: Table): string | undefined {
  const { kind, flags } = action;
  if (flags !== undefined && level !== 0 && (flags & ActionFlags.ROOT_LEVEL) !== 0) {
    return `has ActionFlags.ROOT_LEVEL, which is for the root table, and the table has level ${level}`;
  }
  if (flags !== undefined && level === 0 && (flags & ActionFlags.ROOT_LEVEL) === 0) {
    return `is in the root table, for which ${kind} needs flags: ActionFlags.ROOT_LEVEL`;
  }
  const next = nextTables(action).find((each) => each.level <= level);
  return next === undefined
    ? undefined
    : `leads from a table of level ${level} to one of level ${next.level}: only higher levels are reached`;
}

/** The tables that packets go to, also by a destination of an array; the root table is left out, which all rules reach. */
function nextTables({ kind, others }: Action): Table[] {
  if (kind === 'dest_root_table') return [];
  return others.flatMap((each) => (each instanceof Table ? [each] : each instanceof Action ? nextTables(each) : []));
}

function repeated({ actions }: RefusedRule): string | undefined {
  for (const { kind } of actions) {
    const count = actions.filter((each) => each.kind === kind).length;
    const most = MOST[kind] ?? 1;
    if (count > most) return `${count} actions of the kind ${kind}; a rule takes ${most}`;
  }
  return undefined;
}

/** A rule of the root table becomes a flow, which says where packets go that a port received. */
function unsent({ matcher: { table }, actions }: RefusedRule): string | undefined {
  if (table.level !== 0 || table.domain.type !== DomainType.NIC_RX) return undefined;
  const ends = actions.some(({ kind }) => kind.startsWith('dest_') || kind === 'drop' || kind === 'default_miss');
  return ends ? undefined : 'a rule in the root table of NIC_RX needs a destination, drop or default_miss';
}

function notAtRoot({ actions }: RefusedRule): string | undefined {
  const i = actions.findIndex(({ kind }) => NOT_AT_ROOT.has(kind) || kind === 'default_miss');
  const kind = actions[i]?.kind;
  return kind === undefined
    ? undefined
    : `actions[${i}] is ${kind}, which the root table refuses: lead to a table of a higher level, and do it there`;
}
