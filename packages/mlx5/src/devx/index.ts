export { type FlowTableProperties, type NicFlowTableCaps, queryNicFlowTableCaps } from './capabilities.js';
export * from './commands.js';
export {
  type AsyncAnswer,
  CommandCompletions,
  createCommandCompletions,
  createEventChannel,
  type DevxEvent,
  EventChannel,
  EventChannelFlags,
} from './events.js';
export { allocFlowCounter, FlowCounter, type FlowStatistics } from './flow-counter.js';
export { importUmem, regUmem, regUmemDmabuf, Umem, type UmemAttr } from './memory.js';
export { DevxObject } from './object.js';
export {
  allocMsiVector,
  allocUar,
  allocVar,
  createEq,
  EventQueue,
  importVar,
  MsiVector,
  Uar,
  UarAllocType,
  Var,
} from './pages.js';
export { type ExportSizes, getExportSizes } from './sharing.js';
