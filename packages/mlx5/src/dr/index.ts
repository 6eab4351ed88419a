export { Action } from './action.js';
export {
  createActionDefaultMiss,
  createActionDestArray,
  createActionDestDevxTir,
  createActionDestIbPort,
  createActionDestIbvQp,
  createActionDestRootTable,
  createActionDestTable,
  createActionDestVport,
  createActionDrop,
  createActionFlowCounter,
  createActionModifyHeader,
  createActionPacketReformat,
  createActionPopVlan,
  createActionPushVlan,
  createActionTag,
  type DestAttr,
  type DrModifyHeaderAttr,
  type DrPacketReformatAttr,
} from './actions.js';
export { createDomain, Domain } from './domain.js';
export * from './enums.js';
export { createMatcher, Matcher, type MatcherAttr, type MatcherLayout } from './matcher.js';
export {
  type AsoAttr,
  createActionAso,
  createActionFlowMeter,
  createActionFlowSampler,
  FlowMeterAction,
  type FlowMeterAttr,
  type FlowSamplerAttr,
  linkAsoOtherDomain,
  modifyActionAso,
  unlinkAsoOtherDomain,
} from './meters.js';
export { createRule, Rule } from './rule.js';
export { createTable, Table } from './table.js';
