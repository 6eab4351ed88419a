export { type ClockInfo, getClockInfo, tsToNs } from './clock.js';
export {
  getDataDirectSysfsPath,
  isSupported,
  listDevices,
  type Mlx5ContextAttr,
  type Mlx5DeviceAttr,
  type Mlx5PortAttr,
  openDevice,
  queryDevice,
  queryPort,
  reservedQpnAlloc,
  reservedQpnDealloc,
} from './device.js';
export * as devx from './devx/index.js';
export * as dr from './dr/index.js';
export { calcEncapEntropy, type EncapEntropy, type EncapEntropyFields } from './encap-entropy.js';
export * from './enums.js';
export {
  createFlowActionModifyHeader,
  createFlowActionPacketReformat,
  FlowAction,
  type ModifyHeaderAttr,
  type PacketReformatAttr,
} from './flow/action.js';
export { createFlow, type FlowActionAttr, type FlowActionLike, Mlx5Flow } from './flow/flow.js';
export { createFlowMatcher, FlowMatcher, type FlowMatcherAttr } from './flow/matcher.js';
export { createSteeringAnchor, SteeringAnchor, type SteeringAnchorAttr } from './flow/steering-anchor.js';
export * from './headers/index.js';
export * from './match/index.js';
export type { MatchValue } from './match-value.js';
export { encodeModifyHeader, type ModifyAction, ModifyField, type ModifyFieldName } from './modify-header.js';
export { softModel } from './soft-model.js';
