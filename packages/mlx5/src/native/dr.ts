import type { NativeHandle, NativeLibrary } from './handles.js';

type Made = NativeHandle | number;

export interface NativeMeterAttr {
  nextTable: NativeHandle;
  active: number;
  regCIndex: number;
  parameter: Uint8Array;
}

/** Of native/binding/dr/dr.cc, dr_actions.cc and dr_meters.cc. */
export interface NativeDr {
  drDomainCreate(library: NativeLibrary, context: NativeHandle, type: number): Made;
  drDomainSync(domain: NativeHandle, flags: number): number;
  drDomainSetReclaimDeviceMemory(domain: NativeHandle, enable: boolean): number;
  drDomainAllowDuplicateRules(domain: NativeHandle, allow: boolean): number;
  drTableCreate(domain: NativeHandle, level: number): Made;
  drMatcherCreate(table: NativeHandle, priority: number, matchCriteriaEnable: number, mask: Uint8Array): Made;
  drMatcherSetLayout(matcher: NativeHandle, flags: number, logNumOfRulesHint: number): number;
  drRuleCreate(matcher: NativeHandle, value: Uint8Array, actions: NativeHandle[]): Made;
  dumpDrDomain(domain: NativeHandle): string | number;
  dumpDrTable(table: NativeHandle): string | number;
  dumpDrMatcher(matcher: NativeHandle): string | number;
  dumpDrRule(rule: NativeHandle): string | number;

  drActionCreateDrop(domain: NativeHandle): Made;
  drActionCreateDefaultMiss(domain: NativeHandle): Made;
  drActionCreatePopVlan(domain: NativeHandle): Made;
  drActionCreateTag(domain: NativeHandle, tagValue: number): Made;
  drActionCreateDestVport(domain: NativeHandle, vport: number): Made;
  drActionCreateDestIbPort(domain: NativeHandle, ibPort: number): Made;
  drActionCreatePushVlan(domain: NativeHandle, vlanHdr: number): Made;
  drActionCreateDestIbvQp(domain: NativeHandle, qp: NativeHandle): Made;
  drActionCreateDestTable(domain: NativeHandle, table: NativeHandle): Made;
  drActionCreateDestRootTable(domain: NativeHandle, table: NativeHandle, priority: number): Made;
  drActionCreateDestDevxTir(domain: NativeHandle, object: NativeHandle): Made;
  drActionCreateFlowCounter(domain: NativeHandle, object: NativeHandle, offset: number): Made;
  drActionCreatePacketReformat(
    domain: NativeHandle,
    flags: number,
    reformatType: number,
    data: Uint8Array | undefined,
  ): Made;
  drActionCreateModifyHeader(domain: NativeHandle, flags: number, actions: Uint8Array | BigUint64Array): Made;
  drActionCreateDestArray(domain: NativeHandle, dests: { dest: NativeHandle; reformat?: NativeHandle }[]): Made;

  drActionCreateAso(
    domain: NativeHandle,
    object: NativeHandle,
    offset: number,
    flags: number,
    returnRegC: number,
  ): Made;
  drActionModifyAso(action: NativeHandle, offset: number, flags: number, returnRegC: number): number;
  drActionCreateFlowMeter(domain: NativeHandle, attr: NativeMeterAttr): Made;
  drActionModifyFlowMeter(action: NativeHandle, attr: NativeMeterAttr, modifyFieldSelect: bigint): number;
  drActionCreateFlowSampler(
    domain: NativeHandle,
    attr: { sampleRatio: number; defaultNextTable: NativeHandle; sampleActions: NativeHandle[]; action: bigint },
  ): Made;
  drAsoOtherDomainLink(
    object: NativeHandle,
    peerDomain: NativeHandle,
    domain: NativeHandle,
    flags: number,
    returnRegC: number,
  ): number;
  drAsoOtherDomainUnlink(object: NativeHandle, domain: NativeHandle): number;
}
