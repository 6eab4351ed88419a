import { handleOf, validate } from '@verbs/core/provider';
import { done, made } from '../base/calls.js';
import type { DevxObject } from '../devx/object.js';
import { native, type NativeHandle } from '../native/index.js';
import type { NativeMeterAttr } from '../native/dr.js';
import { bytesOf } from '../actions/reformat.js';
import { Action } from './action.js';
import type { Domain } from './domain.js';
import type { Table } from './table.js';

const U32 = 0xffffffff;

/** What {@link dr.createActionAso} and {@link dr.modifyActionAso} take. */
export interface AsoAttr {
  /** Of the ASO in its object. */
  offset?: number;
  /** {@link dr.AsoFirstHitFlags}, {@link dr.AsoFlowMeterFlags} or {@link dr.AsoCtFlags}, by the object. */
  flags?: number;
  /** Which register C gets the result: 0 to 7. */
  returnRegC: number;
}

function asoFields(attr: AsoAttr) {
  const given = validate.object(attr, 'attr', ['offset', 'flags', 'returnRegC']);
  return {
    offset: validate.optional(given['offset'], 'attr.offset', U32, 0),
    flags: validate.optional(given['flags'], 'attr.flags', U32, 0),
    returnRegC: validate.integer(given['returnRegC'], 'attr.returnRegC', 0, 0xff),
  };
}

/**
 * `mlx5dv_dr_action_create_aso`: an advanced steering operation (first hit, flow meter, connection tracking) on an object
 * made by DEVX.
 *
 * @throws VerbsError EOPNOTSUPP, EINVAL
 */
export function createActionAso(domain: Domain, obj: DevxObject, attr: AsoAttr): Action {
  const syscall = 'mlx5dv_dr_action_create_aso';
  const handle = handleOf(domain, 'Domain', 'domain', syscall);
  const { offset, flags, returnRegC } = asoFields(attr);
  const object = handleOf(obj, 'DevxObject', 'obj', syscall);
  const result = native.drActionCreateAso(handle, object, offset, flags, returnRegC);
  return new Action(domain, made(result, { library: domain.library(syscall), syscall }), 'aso', [obj]);
}

/** `mlx5dv_dr_action_modify_aso`. @throws VerbsError EINVAL, EOPNOTSUPP */
export function modifyActionAso(action: Action, attr: AsoAttr): void {
  const syscall = 'mlx5dv_dr_action_modify_aso';
  const handle = handleOf(action, 'Action', 'action', syscall);
  const { offset, flags, returnRegC } = asoFields(attr);
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
  const { flags, returnRegC } = asoFields(attr);
  const about = { library: domain.library(syscall), syscall };
  done(native.drAsoOtherDomainLink(object, peer, handle, flags, returnRegC), about);
}

/** `mlx5dv_dr_aso_other_domain_unlink`. @throws VerbsError EINVAL, EOPNOTSUPP */
export function unlinkAsoOtherDomain(obj: DevxObject, domain: Domain): void {
  const syscall = 'mlx5dv_dr_aso_other_domain_unlink';
  const object = handleOf(obj, 'DevxObject', 'obj', syscall);
  const handle = handleOf(domain, 'Domain', 'domain', syscall);
  done(native.drAsoOtherDomainUnlink(object, handle), { library: domain.library(syscall), syscall });
}

/** `struct mlx5dv_dr_flow_meter_attr`. */
export interface FlowMeterAttr {
  /** Where packets go on, with their colour in the register. */
  nextTable: Table;
  /** Whether it measures, default true. */
  active?: boolean;
  /** Which register C gets the colour: 0 to 7. */
  regCIndex: number;
  /** `flow_meter_parameters` of the device's manual. */
  parameter: Uint8Array;
}

function meterFields(attr: FlowMeterAttr, syscall: string): NativeMeterAttr {
  const given = validate.object(attr, 'attr', ['nextTable', 'active', 'regCIndex', 'parameter']);
  const parameter = bytesOf(given['parameter'], 'attr.parameter');
  if (parameter === undefined) throw validate.typeError('attr.parameter', 'a Uint8Array', parameter);
  return {
    nextTable: handleOf(given['nextTable'], 'Table', 'attr.nextTable', syscall),
    active: Number(validate.boolean(given['active'], 'attr.active', true)),
    regCIndex: validate.integer(given['regCIndex'], 'attr.regCIndex', 0, 0xff),
    parameter,
  };
}

/** A flow meter, with the table that it needs at every change. */
export class FlowMeterAction extends Action {
  /** Where packets go on, with their colour in the register. */
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
   * @param modifyFieldSelect which of them count: the 64 bits of the device's manual
   * @throws VerbsError EINVAL, EOPNOTSUPP
   */
  modify(attr: Omit<FlowMeterAttr, 'nextTable'>, modifyFieldSelect: bigint): void {
    const syscall = 'mlx5dv_dr_action_modify_flow_meter';
    const handle = this.use(syscall);
    const fields = meterFields({ ...attr, nextTable: this.nextTable }, syscall);
    const select = networkOrder(BigInt(validate.u64(modifyFieldSelect, 'modifyFieldSelect')));
    done(native.drActionModifyFlowMeter(handle, fields, select), { library: this.domain.library(syscall), syscall });
  }
}

/** `mlx5dv_dr_action_create_flow_meter`: measures a flow's rate and colours its packets. @throws VerbsError EINVAL */
export function createActionFlowMeter(domain: Domain, attr: FlowMeterAttr): FlowMeterAction {
  const syscall = 'mlx5dv_dr_action_create_flow_meter';
  const handle = handleOf(domain, 'Domain', 'domain', syscall);
  const result = native.drActionCreateFlowMeter(handle, meterFields(attr, syscall));
  return new FlowMeterAction(domain, made(result, { library: domain.library(syscall), syscall }), attr.nextTable);
}

/** `struct mlx5dv_dr_flow_sampler_attr`. */
export interface FlowSamplerAttr {
  /** One packet of so many, at random. */
  sampleRatio: number;
  /** Where all packets go on, sampled or not. */
  defaultNextTable: Table;
  /** What happens to the samples. */
  sampleActions: readonly Action[];
  /** FDB: what else, in the layout of the device's manual; default 0. */
  action?: bigint;
}

/** `mlx5dv_dr_action_create_flow_sampler`: copies of some packets. @throws VerbsError EINVAL, EOPNOTSUPP */
export function createActionFlowSampler(domain: Domain, attr: FlowSamplerAttr): Action {
  const syscall = 'mlx5dv_dr_action_create_flow_sampler';
  const handle = handleOf(domain, 'Domain', 'domain', syscall);
  const given = validate.object(attr, 'attr', ['sampleRatio', 'defaultNextTable', 'sampleActions', 'action']);
  const list = given['sampleActions'];
  if (!Array.isArray(list)) throw validate.typeError('attr.sampleActions', 'an array', list);
  const sampleActions = list.map((each, i) => handleOf(each, 'Action', `attr.sampleActions[${i}]`, syscall));
  const fields = {
    sampleRatio: validate.integer(given['sampleRatio'], 'attr.sampleRatio', 0, U32),
    defaultNextTable: handleOf(given['defaultNextTable'], 'Table', 'attr.defaultNextTable', syscall),
    sampleActions,
    action: networkOrder(BigInt(validate.u64(given['action'] ?? 0n, 'attr.action'))),
  };
  const result = native.drActionCreateFlowSampler(handle, fields);
  const others = [attr.defaultNextTable, ...attr.sampleActions];
  return new Action(domain, made(result, { library: domain.library(syscall), syscall }), 'flow_sampler', others);
}

/** As it must lie in memory to be a big-endian number. */
function networkOrder(value: bigint): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, value);
  return view.getBigUint64(0, true);
}
