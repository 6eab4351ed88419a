import { VerbsError } from '@verbs/core';
import {
  errno,
  fields,
  handle,
  uint8Array,
  flag,
  handleOf,
  list,
  or,
  u32,
  u64,
  u8,
  validate,
} from '@verbs/core/provider';
import { done, made } from '../base/calls.js';
import type { DevxObject } from '../devx/object.js';
import { native, type NativeHandle } from '../native/index.js';
import type { NativeMeterAttr } from '../native/dr.js';
import { Action } from './action.js';
import type { Domain } from './domain.js';
import type { AsoCtFlags, AsoFirstHitFlags, AsoFlowMeterFlags } from './enums.js';
import type { Table } from './table.js';

/** The attributes of {@link dr.createActionAso} and {@link dr.modifyActionAso}. */
export interface AsoAttr {
  /** The offset of the ASO in its object. */
  offset?: number;
  /** {@link dr.AsoFirstHitFlags}, {@link dr.AsoFlowMeterFlags} or {@link dr.AsoCtFlags}, by the object. */
  flags?: AsoFirstHitFlags | AsoFlowMeterFlags | AsoCtFlags;
  /** The number of the register C for the result: 1, 3 or 5. */
  returnRegC: number;
}

const checkAso = fields({ offset: or(u32(), 0), flags: or(u32(), 0), returnRegC: u8() });

/**
 * `mlx5dv_dr_action_create_aso`: an advanced steering operation (first hit, flow meter, connection tracking) on an object
 * made by DEVX.
 *
 * @throws VerbsError EOPNOTSUPP, EINVAL
 */
export function createActionAso(domain: Domain, obj: DevxObject, attr: AsoAttr): Action {
  const syscall = 'mlx5dv_dr_action_create_aso';
  const handle = handleOf(domain, 'Domain', 'domain', syscall);
  const { offset, flags, returnRegC } = checkAso(attr, 'attr');
  const object = handleOf(obj, 'DevxObject', 'obj', syscall);
  const result = native.drActionCreateAso(handle, object, offset, flags, returnRegC);
  return new Action(domain, made(result, { library: domain.library(syscall), syscall }), 'aso', [obj]);
}

/** `mlx5dv_dr_action_modify_aso`. @throws VerbsError EINVAL, EOPNOTSUPP */
export function modifyActionAso(action: Action, attr: AsoAttr): void {
  const syscall = 'mlx5dv_dr_action_modify_aso';
  const handle = handleOf(action, 'Action', 'action', syscall);
  const { offset, flags, returnRegC } = checkAso(attr, 'attr');
  const about = { library: action.domain.library(syscall), syscall };
  done(native.drActionModifyAso(handle, offset, flags, returnRegC), about);
}

/**
 * `mlx5dv_dr_aso_other_domain_link`: the object serves rules of `domain` beside those of `peerDomain`.
 *
 * @throws VerbsError EOPNOTSUPP, EINVAL
 */
export function linkAsoOtherDomain(obj: DevxObject, peerDomain: Domain, domain: Domain, attr: Omit<AsoAttr, 'offset'>) {
  const syscall = 'mlx5dv_dr_aso_other_domain_link';
  const object = handleOf(obj, 'DevxObject', 'obj', syscall);
  const peer = handleOf(peerDomain, 'Domain', 'peerDomain', syscall);
  const handle = handleOf(domain, 'Domain', 'domain', syscall);
  const { flags, returnRegC } = checkAso(attr, 'attr');
  const about = { library: domain.library(syscall), syscall };
  done(native.drAsoOtherDomainLink(object, peer, handle, flags, returnRegC), about);
  linked.set(obj, domain);
}

/** What {@link linkAsoOtherDomain} has linked: the library unlinks without a look, also for a device that has no links. */
const linked = new WeakMap<DevxObject, Domain>();

/** `mlx5dv_dr_aso_other_domain_unlink`. @throws VerbsError EINVAL (an object that is not linked), EOPNOTSUPP */
export function unlinkAsoOtherDomain(obj: DevxObject, domain: Domain): void {
  const syscall = 'mlx5dv_dr_aso_other_domain_unlink';
  const object = handleOf(obj, 'DevxObject', 'obj', syscall);
  const handle = handleOf(domain, 'Domain', 'domain', syscall);
  if (linked.get(obj) !== domain) {
    throw new VerbsError(errno.EINVAL, syscall, { hint: 'obj is not linked with that domain by linkAsoOtherDomain()' });
  }
  done(native.drAsoOtherDomainUnlink(object, handle), { library: domain.library(syscall), syscall });
  linked.delete(obj);
}

/** `struct mlx5dv_dr_flow_meter_attr`. */
export interface FlowMeterAttr {
  /** The next table; the register has the packet's colour. */
  nextTable: Table;
  /** Whether the meter is active, default true. */
  active?: boolean;
  /** The number of the register C for the colour: 0 to 7. */
  regCIndex: number;
  /** `flow_meter_parameters` of the device's manual. */
  parameter: Uint8Array;
}

/** The attributes for a native call, and the table among them. */
function meterFields(attr: FlowMeterAttr, syscall: string): { meter: NativeMeterAttr; nextTable: Table } {
  const check = fields({
    nextTable: handle('Table', syscall),
    active: flag(true),
    regCIndex: u8(),
    parameter: uint8Array,
  });
  const once = validate.object(attr, 'attr', check.names) as unknown as FlowMeterAttr;
  const { active, ...given } = check(once, 'attr');
  return { meter: { ...given, active: Number(active) }, nextTable: once.nextTable };
}

/** A flow meter. It keeps its table, which every change needs. */
export class FlowMeterAction extends Action {
  /** The next table; the register has the packet's colour. */
  readonly nextTable: Table;

  /** @internal */
  constructor(domain: Domain, handle: NativeHandle, nextTable: Table) {
    super(domain, handle, 'flow_meter', [nextTable]);
    this.nextTable = nextTable;
  }

  /**
   * `mlx5dv_dr_action_modify_flow_meter`.
   *
   * @param attr the new values; the table stays
   * @param modifyFieldSelect the values to change: the 64 bits of the device's manual
   * @throws VerbsError EINVAL, EOPNOTSUPP
   */
  modify(attr: Omit<FlowMeterAttr, 'nextTable'>, modifyFieldSelect: bigint): void {
    const syscall = 'mlx5dv_dr_action_modify_flow_meter';
    const handle = this.use(syscall);
    const { meter } = meterFields({ ...attr, nextTable: this.nextTable }, syscall);
    const select = networkOrder(BigInt(validate.u64(modifyFieldSelect, 'modifyFieldSelect')));
    done(native.drActionModifyFlowMeter(handle, meter, select), { library: this.domain.library(syscall), syscall });
  }
}

/** `mlx5dv_dr_action_create_flow_meter`: measures a flow's rate and colours its packets. @throws VerbsError EINVAL */
export function createActionFlowMeter(domain: Domain, attr: FlowMeterAttr): FlowMeterAction {
  const syscall = 'mlx5dv_dr_action_create_flow_meter';
  const handle = handleOf(domain, 'Domain', 'domain', syscall);
  const { meter, nextTable } = meterFields(attr, syscall);
  const result = native.drActionCreateFlowMeter(handle, meter);
  return new FlowMeterAction(domain, made(result, { library: domain.library(syscall), syscall }), nextTable);
}

/** `struct mlx5dv_dr_flow_sampler_attr`. */
export interface FlowSamplerAttr {
  /** One packet in `sampleRatio`, at random. */
  sampleRatio: number;
  /** The next table of all packets, sampled or not; of a level above 0. */
  defaultNextTable: Table;
  /** The actions on the samples. */
  sampleActions: readonly Action[];
  /** FDB: a further action, in the layout of the device's manual; default 0. */
  action?: bigint;
}

/** `mlx5dv_dr_action_create_flow_sampler`: copies of some packets. @throws VerbsError EINVAL, EOPNOTSUPP */
export function createActionFlowSampler(domain: Domain, attr: FlowSamplerAttr): Action {
  const syscall = 'mlx5dv_dr_action_create_flow_sampler';
  const owner = handleOf(domain, 'Domain', 'domain', syscall);
  const check = fields({
    sampleRatio: u32(),
    defaultNextTable: handle('Table', syscall),
    sampleActions: list(handle('Action', syscall)),
    action: or(u64(), 0n),
  });
  const once = validate.object(attr, 'attr', check.names) as unknown as FlowSamplerAttr;
  const given = check(once, 'attr');
  const { defaultNextTable, sampleActions } = once;
  if (defaultNextTable.level === 0) {
    // The library reads the number of the firmware's table, and a root table has none.
    throw new VerbsError(errno.EINVAL, syscall, {
      hint: 'attr.defaultNextTable is a root table; it has a level above 0',
    });
  }
  const result = native.drActionCreateFlowSampler(owner, { ...given, action: networkOrder(given.action) });
  const others = [defaultNextTable, ...sampleActions];
  return new Action(domain, made(result, { library: domain.library(syscall), syscall }), 'flow_sampler', others);
}

/** The number with its bytes in network order. */
function networkOrder(value: bigint): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, value);
  return view.getBigUint64(0, true);
}
