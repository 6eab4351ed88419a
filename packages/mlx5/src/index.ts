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
export {
  CryptoKeyPurpose,
  CryptoKeySize,
  CryptoLogin,
  cryptoLogin,
  type CryptoLoginAttr,
  cryptoLoginCreate,
  cryptoLoginQueryState,
  CryptoLoginState,
  cryptoLogout,
  Dek,
  dekCreate,
  type DekInitAttr,
  DekState,
} from './crypto.js';
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
export { initObj, type Mlx5ObjectIn, type Mlx5Objects, type Mlx5Qp, type Mlx5Ring } from './internals.js';
export * from './match/index.js';
export type { MatchValue } from './match-value.js';
export { allocDm, DmabufAccess, DmType, regDmabufMr } from './memory.js';
export { createMkey, Mkey, type MkeyErr, MkeyErrType, MkeyInitAttrFlags } from './mkey.js';
export {
  type AddField,
  type CopyField,
  encodeModifyHeader,
  type ModifyAction,
  ModifyField,
  type ModifyFieldName,
  type SetField,
} from './modify-header.js';
export {
  CqeCompResFormat,
  createCq,
  createQp,
  createWq,
  DcType,
  Mlx5CqFlags,
  type Mlx5CqInitAttr,
  Mlx5QpCreateFlags,
  type Mlx5QpInitAttr,
  Mlx5SendOpsFlags,
  type Mlx5WqInitAttr,
} from './queues.js';
export { dciStreamIdReset, mapAhToQp, modifyQpLagPort, modifyQpUdpSport, queryQpLagPort } from './queue-settings.js';
export {
  modifyQpSchedElem,
  PacketPacing,
  ppAlloc,
  PpAllocFlags,
  type SchedAttr,
  SchedLeaf,
  schedLeafCreate,
  SchedNode,
  schedNodeCreate,
} from './scheduling.js';
export { softModel } from './soft-model.js';
export { openVfioDevice, type VfioContextAttr, VfioContextFlags, vfioGetEventsFd, vfioProcessEvents } from './vfio.js';
