import { type QueuePair, VerbsError } from '@verbs/core';
import { errno, fields, handleOf, or, u32, validate } from '@verbs/core/provider';
import { made } from '../base/calls.js';
import { FlowCounter } from '../devx/flow-counter.js';
import type { DevxObject } from '../devx/object.js';
import type { FlowActionPacketReformatType } from '../base/enums.js';
import { type ModifyAction, modifyActions } from '../actions/modify-header.js';
import { native, type NativeHandle } from '../native/index.js';
import { bytesOf, refusedSize } from '../actions/reformat.js';
import { reformatText, tagText } from '../actions/text.js';
import { Action } from './action.js';
import type { Domain } from './domain.js';
import type { ActionFlags } from './enums.js';
import type { Table } from './table.js';

const PREFIX = 'mlx5dv_dr_action_create_';
const U32 = 0xffffffff;
/** Far above what a device takes. */
const MOST_DESTS = 0xffff;
const NO_DATA = new Uint8Array();
type Parent = ConstructorParameters<typeof Action>[3];

function create(
  domain: Domain,
  kind: string,
  call: (handle: NativeHandle, syscall: string) => NativeHandle | number,
  others?: Parent,
  about?: () => { detail?: string; flags?: number | undefined } | undefined,
): Action {
  const syscall = PREFIX + kind;
  const result = call(handleOf(domain, 'Domain', 'domain', syscall), syscall);
  return new Action(domain, made(result, { library: domain.library(syscall), syscall }), kind, others, about?.());
}

/**
 * `mlx5dv_dr_action_create_drop`: the packet ends here.
 *
 * @throws VerbsError ENOMEM
 */
export function createActionDrop(domain: Domain): Action {
  return create(domain, 'drop', (handle) => native.drActionCreateDrop(handle));
}

/**
 * `mlx5dv_dr_action_create_default_miss`: the action on packets that no rule matches: NIC_RX drops, NIC_TX sends, FDB
 * sends to the e-switch manager.
 */
export function createActionDefaultMiss(domain: Domain): Action {
  return create(domain, 'default_miss', (handle) => native.drActionCreateDefaultMiss(handle));
}

/**
 * `mlx5dv_dr_action_create_pop_vlan`: removes the outermost VLAN tag.
 *
 * @throws VerbsError EOPNOTSUPP from a libmlx5 without it
 */
export function createActionPopVlan(domain: Domain): Action {
  return create(domain, 'pop_vlan', (handle) => native.drActionCreatePopVlan(handle));
}

/**
 * `mlx5dv_dr_action_create_push_vlan`.
 *
 * @param vlanHdr the tag: its EtherType (0x8100 or 0x88a8) in the upper 16 bits, priority and VLAN id in the lower
 * @throws VerbsError EINVAL for another EtherType
 * @example dr.createActionPushVlan(domain, 0x8100_0064); // VLAN 100
 */
export function createActionPushVlan(domain: Domain, vlanHdr: number): Action {
  return create(domain, 'push_vlan', (handle) => {
    validate.integer(vlanHdr, 'vlanHdr', 0, U32);
    return native.drActionCreatePushVlan(handle, vlanHdr);
  });
}

/**
 * `mlx5dv_dr_action_create_tag`: `wc.flowTag` of the completion.
 *
 * @param tagValue 24 bits; the library ignores the upper 8
 * @throws VerbsError ENOMEM
 */
export function createActionTag(domain: Domain, tagValue: number): Action {
  const call = (handle: NativeHandle) => {
    validate.integer(tagValue, 'tagValue', 0, U32);
    return native.drActionCreateTag(handle, tagValue);
  };
  return create(domain, 'tag', call, [], () => ({ detail: tagText(tagValue) }));
}

/**
 * `mlx5dv_dr_action_create_dest_vport`: to a port of the e-switch.
 *
 * @throws VerbsError EOPNOTSUPP (another domain than FDB), EINVAL (no such port)
 */
export function createActionDestVport(domain: Domain, vport: number): Action {
  return create(domain, 'dest_vport', (handle) => {
    validate.integer(vport, 'vport', 0, U32);
    return native.drActionCreateDestVport(handle, vport);
  });
}

/**
 * `mlx5dv_dr_action_create_dest_ib_port`: to a port of the device, counted from 1.
 *
 * @throws VerbsError EOPNOTSUPP (another domain than FDB), EINVAL (no such port)
 */
export function createActionDestIbPort(domain: Domain, ibPort: number): Action {
  return create(domain, 'dest_ib_port', (handle) => {
    validate.integer(ibPort, 'ibPort', 0, U32);
    return native.drActionCreateDestIbPort(handle, ibPort);
  });
}

/**
 * `mlx5dv_dr_action_create_dest_ibv_qp`: to a queue pair, for rules of NIC_RX domains.
 *
 * @throws VerbsError EINVAL for a queue pair of another type than RAW_PACKET
 */
export function createActionDestIbvQp(domain: Domain, qp: QueuePair): Action {
  const call = (handle: NativeHandle, syscall: string) =>
    native.drActionCreateDestIbvQp(handle, handleOf(qp, 'QueuePair', 'qp', syscall));
  return create(domain, 'dest_ibv_qp', call, [qp]);
}

/**
 * `mlx5dv_dr_action_create_dest_table`: on to a table of the domain, of a higher level than the rule's own.
 *
 * @throws VerbsError EINVAL for a table of level 0
 */
export function createActionDestTable(domain: Domain, table: Table): Action {
  const call = (handle: NativeHandle, syscall: string) =>
    native.drActionCreateDestTable(handle, handleOf(table, 'Table', 'table', syscall));
  return create(domain, 'dest_table', call, [table]);
}

/**
 * `mlx5dv_dr_action_create_dest_root_table`: on to a priority of the root table.
 *
 * @throws VerbsError EINVAL for a table of another level than 0, EOPNOTSUPP
 */
export function createActionDestRootTable(domain: Domain, table: Table, priority: number): Action {
  const call = (handle: NativeHandle, syscall: string) => {
    validate.integer(priority, 'priority', 0, 0xffff);
    return native.drActionCreateDestRootTable(handle, handleOf(table, 'Table', 'table', syscall), priority);
  };
  return create(domain, 'dest_root_table', call, [table]);
}

/**
 * `mlx5dv_dr_action_create_dest_devx_tir`: to a TIR made by DEVX, for rules of NIC_RX domains.
 *
 * @throws VerbsError EINVAL for another object
 */
export function createActionDestDevxTir(domain: Domain, obj: DevxObject): Action {
  const call = (handle: NativeHandle, syscall: string) =>
    native.drActionCreateDestDevxTir(handle, handleOf(obj, 'DevxObject', 'obj', syscall));
  return create(domain, 'dest_devx_tir', call, [obj]);
}

/**
 * `mlx5dv_dr_action_create_flow_counter`: counts packets and bytes.
 *
 * @param offset the counter's number in a bulk, default 0
 * @throws RangeError for an offset past the bulk; VerbsError EINVAL (no flow counter)
 * @example const count = dr.createActionFlowCounter(domain, devx.allocFlowCounter(ctx));
 */
export function createActionFlowCounter(domain: Domain, obj: DevxObject, offset = 0): Action {
  const call = (handle: NativeHandle, syscall: string) => {
    validate.integer(offset, 'offset', 0, obj instanceof FlowCounter ? obj.size - 1 : U32);
    return native.drActionCreateFlowCounter(handle, handleOf(obj, 'DevxObject', 'obj', syscall), offset);
  };
  return create(domain, 'flow_counter', call, [obj]);
}

/** The attributes of {@link dr.createActionPacketReformat}. */
export interface DrPacketReformatAttr {
  /** {@link FlowActionPacketReformatType}. */
  reformatType: FlowActionPacketReformatType;
  /** As with {@link createFlowActionPacketReformat}. */
  data?: Uint8Array;
  /** {@link dr.ActionFlags}, default 0. */
  flags?: ActionFlags;
}

const checkReformat = fields({ reformatType: u32(), data: bytesOf, flags: or(u32(), 0) });

/**
 * `mlx5dv_dr_action_create_packet_reformat`: NIC_RX domains decapsulate, NIC_TX domains encapsulate, FDB domains do both.
 *
 * @throws VerbsError EINVAL (the domain's direction; data that is missing or too large, or of another size than
 *   L3_TUNNEL_TO_L2 has), EOPNOTSUPP
 */
export function createActionPacketReformat(domain: Domain, attr: DrPacketReformatAttr): Action {
  let about: { detail: string; flags: number } | undefined;
  const call = (handle: NativeHandle, syscall: string) => {
    const { reformatType, data, flags } = checkReformat(attr, 'attr');
    about = { detail: reformatText(reformatType, data), flags };
    // The library copies the data to a place on its stack, whatever their size, and also where there are none.
    const hint = refusedSize(reformatType, data ?? NO_DATA);
    if (hint !== undefined) throw new VerbsError(errno.EINVAL, syscall, { hint });
    return native.drActionCreatePacketReformat(handle, flags, reformatType, data);
  };
  return create(domain, 'packet_reformat', call, [], () => about);
}

/** The attributes of {@link dr.createActionModifyHeader}. */
export interface DrModifyHeaderAttr {
  /** As with {@link createFlowActionModifyHeader}. */
  actions: readonly ModifyAction[] | BigUint64Array | Uint8Array;
  /** {@link dr.ActionFlags}, default 0. */
  flags?: ActionFlags;
}

const checkModifyHeader = fields({ actions: modifyActions, flags: or(u32(), 0) });

/** `mlx5dv_dr_action_create_modify_header`. @throws VerbsError EINVAL, EOPNOTSUPP */
export function createActionModifyHeader(domain: Domain, attr: DrModifyHeaderAttr): Action {
  let about: { flags: number } | undefined;
  const call = (handle: NativeHandle) => {
    const { actions, flags } = checkModifyHeader(attr, 'attr');
    about = { flags };
    return native.drActionCreateModifyHeader(handle, flags, actions);
  };
  return create(domain, 'modify_header', call, [], () => about);
}

/** `struct mlx5dv_dr_action_dest_attr`: a destination, with a reformat action in front (DEST_REFORMAT) or without. */
export interface DestAttr {
  /** The destination of a copy: an action made by one of `createActionDest…`. */
  dest: Action;
  /** A packet reformat action on that copy. */
  reformat?: Action;
}

/** `mlx5dv_dr_action_create_dest_array`: each destination gets a copy. @throws VerbsError EINVAL, EOPNOTSUPP */
export function createActionDestArray(domain: Domain, dests: readonly (Action | DestAttr)[]): Action {
  const given = validate.elements(dests, 'dests', 'an array', MOST_DESTS);
  const others = new Set<Action>();
  const call = (handle: NativeHandle, syscall: string) => {
    const list = given.map((each, i) => {
      const path = `dests[${i}]`;
      const one = each instanceof Action ? { dest: each } : (each as DestAttr);
      const { dest, reformat } = validate.object(one, path, ['dest', 'reformat']);
      const result = { dest: handleOf(dest, 'Action', `${path}.dest`, syscall) };
      others.add(dest as Action);
      if (reformat === undefined) return result;
      others.add(reformat as Action);
      return { ...result, reformat: handleOf(reformat, 'Action', `${path}.reformat`, syscall) };
    });
    return native.drActionCreateDestArray(handle, list);
  };
  const syscall = `${PREFIX}dest_array`;
  const result = call(handleOf(domain, 'Domain', 'domain', syscall), syscall);
  return new Action(domain, made(result, { library: domain.library(syscall), syscall }), 'dest_array', [...others]);
}
