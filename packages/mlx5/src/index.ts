export { getClockInfo, tsToNs } from './device/clock.js';
export type { ClockInfo, Mlx5DeviceAttr } from './native/device.js';
export {
  getDataDirectSysfsPath,
  isSupported,
  listDevices,
  type Mlx5ContextAttr,
  type Mlx5PortAttr,
  openDevice,
  queryDevice,
  queryPort,
  reservedQpnAlloc,
  reservedQpnDealloc,
} from './device/device.js';
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
} from './memory/crypto.js';
export * as devx from './devx/index.js';
export * as dr from './dr/index.js';
export { calcEncapEntropy, type EncapEntropy, type EncapEntropyFields } from './headers/encap-entropy.js';
export * from './base/enums.js';
export { vendorLibrary } from './base/libraries.js';
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
export type { PipelineEdge, PipelineNode } from './graph/drawings.js';
export { pipelineGraph, type PipelineGraph } from './graph/pipeline.js';
export * from './headers/index.js';
export { initObj, type Mlx5ObjectIn, type Mlx5Objects, type Mlx5Qp, type Mlx5Ring } from './queues/object-numbers.js';
export * from './match/index.js';
export type { MatchValue } from './match/match-value.js';
export { allocDm, DmabufAccess, DmType, regDmabufMr } from './memory/memory.js';
export { createMkey, Mkey, type MkeyErr, MkeyErrType, MkeyInitAttrFlags } from './memory/mkey.js';
export {
  type AddField,
  type CopyField,
  encodeModifyHeader,
  type ModifyAction,
  ModifyField,
  type ModifyFieldName,
  type SetField,
} from './actions/modify-header.js';
export { CqeCompResFormat, createCq, Mlx5CqFlags, type Mlx5CqInitAttr } from './queues/completion-queue.js';
export { createQp, DcType, Mlx5QpCreateFlags, type Mlx5QpInitAttr, Mlx5SendOpsFlags } from './queues/queue-pair.js';
export { createWq, type Mlx5WqInitAttr } from './queues/work-queue.js';
export { dciStreamIdReset, mapAhToQp, modifyQpLagPort, modifyQpUdpSport, queryQpLagPort } from './queues/settings.js';
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
} from './queues/scheduling.js';
export { softModel } from './base/soft-model.js';
export {
  openVfioDevice,
  type VfioContextAttr,
  VfioContextFlags,
  vfioGetEventsFd,
  vfioProcessEvents,
} from './device/vfio.js';
