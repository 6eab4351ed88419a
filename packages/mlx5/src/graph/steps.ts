import type { QueuePair } from '@verbs/core';
import { reformatText, tagText } from '../actions/text.js';
import { FlowActionType as Type } from '../base/enums.js';
import { Action } from '../dr/action.js';
import { Table } from '../dr/table.js';
import { FlowAction } from '../flow/action.js';
import type { UsedAction } from '../flow/flow.js';

/** An action of a rule: changes of the packet, places where it goes, or both. */
export interface Step {
  change?: string | readonly string[];
  ends?: readonly (Table | { key: unknown; name: string })[];
}

const DROP = { key: 'drop', name: 'drop' };
const MISS = { key: 'miss', name: 'as without a rule' };

/** An action of a flow. */
export function flowStep({ type, object, tagValue }: UsedAction): Step {
  if (type === Type.DEST_IBV_QP) return { ends: [queuePair(object)] };
  if (type === Type.DROP) return { ends: [DROP] };
  if (type === Type.DEFAULT_MISS) return { ends: [MISS] };
  if (type === Type.DEST_DEVX) return { ends: [{ key: object, name: 'object of devx' }] };
  if (type === Type.TAG) return { change: tagText(tagValue) };
  if (!(object instanceof FlowAction)) return { change: 'count' };
  if ('actions' in object.attr) return { change: 'modify header' };
  return { change: reformatText(object.attr.reformatType, object.attr.data) };
}

/** An action of direct rules. */
export function drStep({ kind, others, detail }: Action): Step {
  const [other] = others;
  const words = kind.replaceAll('_', ' ');
  // What a sampler does with its samples, and an array's destinations with what is in front of them.
  const parts = others.flatMap((each) => (each instanceof Action ? drStep(each) : []));
  const changes = parts.flatMap(({ change }) => change ?? []);
  const ends = parts.flatMap((part) => part.ends ?? []);
  if (kind === 'dest_ibv_qp') return { ends: [queuePair(other)] };
  if (kind === 'dest_array') return { change: changes, ends };
  if (other instanceof Table) {
    const ofSamples = changes.map((each) => `samples: ${each}`);
    return { change: kind.startsWith('dest_') ? [] : [words, ...ofSamples], ends: [other, ...ends] };
  }
  if (kind === 'drop') return { ends: [DROP] };
  if (kind === 'default_miss') return { ends: [MISS] };
  if (kind.startsWith('dest_')) return { ends: [{ key: other ?? words, name: words.replace('dest ', '') }] };
  return { change: detail ?? words };
}

function queuePair(object: unknown): { key: unknown; name: string } {
  const { qpNum } = object as QueuePair;
  return { key: object, name: `queue pair 0x${qpNum.toString(16).padStart(6, '0')}` };
}
