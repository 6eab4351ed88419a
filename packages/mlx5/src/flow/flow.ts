import { type Context, type Counters, enumName, type QueuePair, QpType } from '@verbs/core';
import { coreNative, handleOf, kindOf, Resource, validate, watchForLeak } from '@verbs/core/provider';
import { copyOf } from '../base/bytes.js';
import { made } from '../base/calls.js';
import { FlowCounter } from '../devx/flow-counter.js';
import type { DevxObject } from '../devx/object.js';
import { FlowActionType as Type, FlowTableType } from '../base/enums.js';
import { libraryFor } from '../base/libraries.js';
import { bitOutside, type MatchValue, valueOf } from '../match/match-value.js';
import { native, type NativeHandle } from '../native/index.js';
import type { NativeFlowActionAttr } from '../native/flow.js';
import { FlowAction } from './action.js';
import type { FlowMatcher } from './matcher.js';

const SYSCALL = 'mlx5dv_create_flow';
const U32 = 0xffffffff;
const MAX_TAG = 0xffffff;
const MAX_ACTIONS = 8;
/** Far above what a library takes, and it says so itself. */
const MOST_ACTIONS = 0xffff;
/** The actions that a packet's way ends with. */
const ENDS: ReadonlySet<number> = new Set([Type.DEST_IBV_QP, Type.DEST_DEVX, Type.DROP, Type.DEFAULT_MISS]);

/** `struct mlx5dv_flow_action_attr`: an action of a flow, by its {@link FlowActionType}. */
export type FlowActionAttr =
  | {
      /** The packet goes to a queue pair. */
      type: typeof Type.DEST_IBV_QP;
      /** Of type RAW_PACKET, for flows of NIC_RX. */
      qp: QueuePair;
    }
  | {
      /** DROP: the packet ends here. DEFAULT_MISS: the packet goes where packets without a flow go. */
      type: typeof Type.DROP | typeof Type.DEFAULT_MISS;
    }
  | {
      /** Counts in counters of libibverbs. */
      type: typeof Type.IBV_COUNTER;
      /** The library rejects them with EOPNOTSUPP: use COUNTERS_DEVX. */
      counter: Counters;
    }
  | {
      /** Changes the packet. */
      type: typeof Type.IBV_FLOW_ACTION;
      /** The change: packet reformat or modify header. */
      action: FlowAction;
    }
  | {
      /** Marks the packet's completion. */
      type: typeof Type.TAG;
      /** 24 bits: `wc.flowTag` of an extended completion queue. */
      tagValue: number;
    }
  | {
      /** The packet goes to an object of devx. */
      type: typeof Type.DEST_DEVX;
      /** A TIR or a flow table. */
      obj: DevxObject;
    }
  | {
      /** Counts packets and bytes. */
      type: typeof Type.COUNTERS_DEVX;
      /** A flow counter: {@link devx.allocFlowCounter}. */
      obj: DevxObject;
    }
  | {
      /** Counts in one counter of a bulk. Newer than rdma-core 44. */
      type: typeof Type.COUNTERS_DEVX_WITH_OFFSET;
      /** A bulk of flow counters: {@link devx.allocFlowCounter}. */
      obj: DevxObject;
      /** The counter's number in the bulk, from 0. */
      offset: number;
    };

/** An action of a flow as it is kept. */
export interface UsedAction {
  type: number;
  object?: InstanceType<typeof Resource>;
  tagValue?: number;
}

/** A queue pair is short for DEST_IBV_QP, an action for IBV_FLOW_ACTION. */
export type FlowActionLike = FlowActionAttr | QueuePair | FlowAction;

/** The field of each type, and the kind of its object. */
const OBJECTS: Readonly<Record<number, readonly [field: string, kind: string]>> = {
  [Type.DEST_IBV_QP]: ['qp', 'QueuePair'],
  [Type.IBV_COUNTER]: ['counter', 'Counters'],
  [Type.IBV_FLOW_ACTION]: ['action', 'FlowAction'],
  [Type.DEST_DEVX]: ['obj', 'DevxObject'],
  [Type.COUNTERS_DEVX]: ['obj', 'DevxObject'],
  [Type.COUNTERS_DEVX_WITH_OFFSET]: ['obj', 'DevxObject'],
};
/** The number that goes with a type. */
const NUMBERS: Readonly<Record<number, string>> = {
  [Type.TAG]: 'tagValue',
  [Type.COUNTERS_DEVX_WITH_OFFSET]: 'offset',
};
const SHORT: Readonly<Record<string, number>> = { QueuePair: Type.DEST_IBV_QP, FlowAction: Type.IBV_FLOW_ACTION };

/**
 * `struct ibv_flow`: applies its actions to the packets that match. Made by {@link createFlow}; `close()` is
 * `ibv_destroy_flow`. It keeps the matcher and the objects of its actions; closing one of these closes the flow first.
 */
export class Mlx5Flow extends Resource {
  /** Its matcher. */
  readonly matcher: FlowMatcher;
  /** A copy of the value. */
  readonly matchValue: Uint8Array;
  /** The types of its actions, see {@link FlowActionType}. */
  readonly actionTypes: readonly number[];

  /** @internal */
  readonly used: readonly UsedAction[];

  /** @internal */
  constructor(matcher: FlowMatcher, handle: NativeHandle, matchValue: Uint8Array, used: readonly UsedAction[]) {
    const objects = used.flatMap(({ object }) => (object === undefined ? [] : [object]));
    super('Mlx5Flow', handle, 'ibv_destroy_flow', [...new Set([matcher, ...objects])]);
    this.matcher = matcher;
    this.matchValue = copyOf(matchValue);
    this.used = used;
    this.actionTypes = used.map(({ type }) => type);
    watchForLeak(this, 'Mlx5Flow', 'its packets take another way');
  }

  protected override describe() {
    const names = Object.entries(Type);
    return {
      priority: this.matcher.priority,
      actions: this.actionTypes.map((type) => names.find(([, value]) => value === type)?.[0] ?? type),
    };
  }
}

/**
 * `mlx5dv_create_flow` (`__mlx5dv_create_flow` if the library has it, for the longer structure): applies `actions` to the
 * packets with `value` in the bits of the matcher's mask. The order of the actions does not matter: the device
 * decapsulates, modifies, encapsulates, then delivers. On NIC_TX, packets without a destination go to the wire.
 *
 * @param value match parameters by name, or bytes; default zeros, which is right for an empty mask
 * @throws TypeError, RangeError for an action, by its path
 * @throws VerbsError EPERM (CAP_NET_RAW), EINVAL, EEXIST (a contradicting flow with the same match), EOPNOTSUPP (more
 *   than 8 actions, two destinations or counters), ENOMEM (a priority above 15)
 * @example
 * const decap = createFlowActionPacketReformat(ctx, {
 *   reformatType: FlowActionPacketReformatType.L2_TUNNEL_TO_L2,
 *   ftType: FlowTableType.NIC_RX,
 * });
 * using flow = createFlow(matcher, { outer: { udpDport: 4789 } }, [decap, { type: FlowActionType.TAG, tagValue: 7 }, qp]);
 */
export function createFlow(
  matcher: FlowMatcher,
  value: MatchValue | undefined,
  actions: readonly FlowActionLike[],
): Mlx5Flow {
  const handle = handleOf(matcher, 'FlowMatcher', 'matcher', SYSCALL);
  const bytes = valueOf(value, 'value', matcher.matchMask.byteLength);
  const used = validate
    .elements(actions, 'actions', 'an array', MOST_ACTIONS)
    .map((action, i) => usedBy(action, `actions[${i}]`));
  const attributes = used.map(({ attr }) => attr);
  const library = libraryFor(matcher.context.device.library, SYSCALL);
  const result = native.createFlow(handle, bytes, attributes);
  const flow = made(result, {
    library,
    syscall: missing(library, attributes),
    hint: cause(result, matcher, bytes, used),
  });
  return new Mlx5Flow(
    matcher,
    flow,
    bytes,
    used.map(({ attr: { type, tagValue }, object }) => ({
      type,
      ...(object && { object }),
      ...(tagValue !== undefined && { tagValue }),
    })),
  );
}

/** The C function that an error names. */
function missing(library: Parameters<typeof native.missing>[0], attributes: readonly { type: number }[]): string {
  const longer = '__mlx5dv_create_flow';
  const wanted = attributes.some(({ type }) => type === Type.COUNTERS_DEVX_WITH_OFFSET);
  return wanted && native.missing(library, longer) !== undefined ? longer : SYSCALL;
}

/** What of the call explains its error; undefined where only the general remedy of that error is left. */
function cause(result: unknown, matcher: FlowMatcher, value: Uint8Array, used: readonly Used[]): string | undefined {
  switch (typeof result === 'number' ? coreNative.errnoName(-result) : undefined) {
    case 'EINVAL':
      return bitOutside(value, matcher.matchMask) ?? wrongAction(matcher, used) ?? unsent(matcher, used);
    case 'EOPNOTSUPP':
      return tooMuch(used);
    case 'ENOMEM':
      return matcher.priority > 15 ? `the matcher's priority is ${matcher.priority}; they are 0 to 15` : undefined;
    default:
      return undefined;
  }
}

function wrongAction(matcher: FlowMatcher, used: readonly Used[]): string | undefined {
  for (const [i, each] of used.entries()) {
    const wrong = wrongObject(matcher, each);
    if (wrong !== undefined) return `actions[${i}]${wrong}`;
  }
  const tags = used.filter(({ attr }) => attr.type === Type.TAG).length;
  if (tags > 1) return `${tags} tags; a flow takes one`;
  const changes = used.flatMap(({ object }) => (object instanceof FlowAction ? ['actions' in object.attr] : []));
  const alike = new Set(changes).size < changes.length;
  return alike
    ? 'two flow actions of one kind; a flow takes one that modifies headers and one that reformats'
    : undefined;
}

function wrongObject({ context, table }: FlowMatcher, { attr, object }: Used): string | undefined {
  if (attr.type === Type.TAG && (attr.tagValue ?? 0) > MAX_TAG) {
    return `.tagValue is ${attr.tagValue ?? 0}; a tag has 24 bits`;
  }
  if (attr.type === Type.DEST_IBV_QP && (object as QueuePair).qpType !== QpType.RAW_PACKET) {
    return ' is a queue pair of another type; flows deliver to those of QpType.RAW_PACKET';
  }
  const owner = (object as { context?: Context } | undefined)?.context;
  if (owner !== undefined && owner !== context) {
    return ` is of another open device than the matcher: of ${owner.device.name}, and the matcher of ${context.device.name}`;
  }
  if (attr.type === Type.DEST_IBV_QP && table === FlowTableType.NIC_TX) {
    return ' is a queue pair, to which flows of NIC_RX deliver; frames of NIC_TX go to the wire';
  }
  if (object instanceof FlowAction && object.ftType !== table) {
    const [made, wanted] = [object.ftType, table].map((type) => enumName(FlowTableType, type));
    return ` was made for flows of ${made}, and the matcher is of ${wanted}`;
  }
  if (object instanceof FlowCounter && (attr.offset ?? 0) >= object.size) {
    return `.offset is ${attr.offset ?? 0}; the bulk has ${object.size} counters, from 0`;
  }
  return undefined;
}

/** Flows of NIC_RX say where their packets go. */
function unsent({ table }: FlowMatcher, used: readonly Used[]): string | undefined {
  if (table !== FlowTableType.NIC_RX || used.some(({ attr }) => ENDS.has(attr.type))) return undefined;
  return 'a flow of NIC_RX needs a destination: a queue pair of QpType.RAW_PACKET, DEST_DEVX, DROP or DEFAULT_MISS';
}

function tooMuch(used: readonly Used[]): string | undefined {
  const count = (...types: number[]) => used.filter(({ attr }) => types.includes(attr.type)).length;
  if (count(Type.IBV_COUNTER) > 0) return 'the library rejects FlowActionType.IBV_COUNTER: use COUNTERS_DEVX';
  if (used.length > MAX_ACTIONS) return `${used.length} actions; a flow takes ${MAX_ACTIONS}`;
  const destinations = count(...ENDS);
  if (destinations > 1) return `${destinations} destinations; a flow takes one`;
  const counters = count(Type.COUNTERS_DEVX, Type.COUNTERS_DEVX_WITH_OFFSET);
  return counters > 1 ? `${counters} counters; a flow takes one` : undefined;
}

interface Used {
  attr: NativeFlowActionAttr;
  object?: InstanceType<typeof Resource>;
}

function usedBy(action: unknown, path: string): Used {
  const short = SHORT[kindOf(action) ?? ''];
  if (short !== undefined) {
    const [, kind = ''] = OBJECTS[short] ?? [];
    const object = handleOf(action, kind, path, SYSCALL);
    return { attr: { type: short, object }, object: action as InstanceType<typeof Resource> };
  }
  const given = validate.object(action, path, ['type', 'qp', 'counter', 'action', 'tagValue', 'obj', 'offset']);
  const type = validate.integer(given['type'], `${path}.type`, 0, U32);
  if (!Object.values<number>(Type).includes(type)) {
    throw validate.rangeError(`${path}.type`, 'one of FlowActionType', type);
  }
  const [field, kind] = OBJECTS[type] ?? [];
  for (const name of Object.keys(given)) {
    if (name === 'type' || name === field || name === NUMBERS[type]) continue;
    throw validate.valueError(`${path}.${name}`, `has no effect with FlowActionType.${enumName(Type, type)}`);
  }
  if (type === Type.TAG) {
    return { attr: { type, tagValue: validate.integer(given['tagValue'], `${path}.tagValue`, 0, U32) } };
  }
  if (field === undefined || kind === undefined) return { attr: { type } };
  const object = handleOf(given[field], kind, `${path}.${field}`, SYSCALL);
  const offset = validate.optional(given['offset'], `${path}.offset`, U32, 0);
  return { attr: { type, object, offset }, object: given[field] as InstanceType<typeof Resource> };
}
