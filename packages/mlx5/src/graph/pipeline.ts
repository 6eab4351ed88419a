import { type Context, enumName } from '@verbs/core';
import { validate } from '@verbs/core/provider';
import { FlowTableType } from '../base/enums.js';
import { DomainType } from '../dr/enums.js';
import { Rule } from '../dr/rule.js';
import { Table } from '../dr/table.js';
import { Mlx5Flow } from '../flow/flow.js';
import type { FlowMatcher } from '../flow/matcher.js';
import { decodeMatch } from '../match/decode.js';
import { drStep, flowStep, type Step } from './steps.js';
import { dotOf, type PipelineEdge, type PipelineNode, svgOf, textOf } from './drawings.js';

/** Rules as a graph. Made by {@link pipelineGraph}. */
export interface PipelineGraph {
  /** Tables, rules and destinations. */
  nodes: readonly PipelineNode[];
  /** The ways of packets. */
  edges: readonly PipelineEdge[];
  /** For a terminal: a tree for each table where packets begin. */
  toText(): string;
  /** For `dot` of Graphviz. */
  toDot(): string;
  /** A picture of its own, in the colours of the page that it stands on, light or dark. */
  toSvg(): string;
}

/**
 * The rules of a pipeline as a graph: the tables where packets begin, what each rule matches and does, and where its packets
 * go. Rules that one matcher tries earlier come first.
 *
 * @param rules flows of {@link createFlow}, rules of {@link dr.createRule}, or both; closed ones are left out
 * @throws TypeError for another value
 * @example
 * const flow = createFlow(matcher, { outer: { udpDport: 4789 } }, [qp]);
 * console.log(pipelineGraph([flow]).toText());
 * // NIC_RX
 * // └─ outer.udpDport=4789, priority 0
 * //    └─ queue pair 0x000011
 */
export function pipelineGraph(rules: readonly (Mlx5Flow | Rule)[]): PipelineGraph {
  if (!Array.isArray(rules)) throw validate.typeError('rules', 'an array of flows and rules', rules);
  const given: readonly unknown[] = rules;
  const roots = new Map<Context, Map<FlowTableType, Place>>();
  const known = given.map((rule, i) => {
    if (rule instanceof Mlx5Flow) return ofFlow(rule, rootOf(roots, rule.matcher));
    if (rule instanceof Rule) return ofRule(rule);
    throw validate.typeError(`rules[${i}]`, 'a flow of createFlow() or a rule of dr.createRule()', rule);
  });
  const graph = new Builder();
  const open = known.filter(({ closed }) => !closed).sort((a, b) => a.priority - b.priority);
  for (const rule of open) graph.add(rule);
  const { nodes, edges } = graph;
  return {
    nodes,
    edges,
    toText: () => textOf(nodes, edges),
    toDot: () => dotOf(nodes, edges),
    toSvg: () => svgOf(nodes, edges),
  };
}

/** What a flow and a rule have in common. */
interface Known {
  closed: boolean;
  table: Place;
  match: string;
  priority: number;
  steps: readonly Step[];
}

interface Place {
  /** The same for the same place. */
  key: unknown;
  name: string;
}

/** The table of a matcher's flows, which each open device has for itself. */
function rootOf(roots: Map<Context, Map<FlowTableType, Place>>, { context, table }: FlowMatcher): Place {
  const ofContext = roots.get(context) ?? new Map<FlowTableType, Place>();
  const place = ofContext.get(table) ?? { key: {}, name: enumName(FlowTableType, table) };
  roots.set(context, ofContext.set(table, place));
  return place;
}

function ofFlow({ closed, matcher, matchValue, used }: Mlx5Flow, table: Place): Known {
  const match = matchText(matcher.matchMask, matchValue);
  return { closed, table, match, priority: matcher.priority, steps: used.map(flowStep) };
}

function ofRule({ closed, matcher, value, actions }: Rule): Known {
  const match = matchText(matcher.mask, value);
  return { closed, table: placeOf(matcher.table), match, priority: matcher.priority, steps: actions.map(drStep) };
}

function placeOf(table: Table): Place {
  return { key: table, name: `${enumName(DomainType, table.domain.type)} level ${table.level}` };
}

function matchText(mask: Uint8Array, value: Uint8Array): string {
  const fields = Object.entries(decodeMatch(mask, value)).flatMap(([part, values]) =>
    Object.entries(values as object).map(([name, match]) => `${part}.${name}=${fieldText(match)}`),
  );
  return fields.length === 0 ? 'every packet' : fields.join(' ');
}

function fieldText(match: unknown): string {
  if (typeof match !== 'object' || match === null) return String(match);
  const { value, mask } = match as { value: unknown; mask: unknown };
  return `${String(value)}/${String(mask)}`;
}

class Builder {
  readonly nodes: PipelineNode[] = [];
  readonly edges: PipelineEdge[] = [];
  readonly #places = new Map<unknown, number>();

  add({ table, match, priority, steps }: Known): void {
    const changes = steps.flatMap(({ change }) => change ?? []);
    const rule = this.#node('rule', `${match}, priority ${priority}`, changes);
    this.edges.push({ from: this.#place(table, 'table'), to: rule });
    for (const step of steps) for (const end of step.ends ?? []) this.edges.push({ from: rule, to: this.#end(end) });
  }

  #end(end: NonNullable<Step['ends']>[number]): number {
    if (end instanceof Table) return this.#place(placeOf(end), 'table');
    return this.#place(end, 'destination');
  }

  #place({ key, name }: Place, kind: 'table' | 'destination'): number {
    let index = this.#places.get(key);
    if (index === undefined) this.#places.set(key, (index = this.#node(kind, name, [])));
    return index;
  }

  #node(kind: PipelineNode['kind'], name: string, actions: readonly string[]): number {
    return this.nodes.push({ kind, name, actions }) - 1;
  }
}
