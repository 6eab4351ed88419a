import type { NativeHandle, NativeLibrary } from './handles.js';

export interface NativeMatcherAttr {
  type: number;
  flags: number;
  priority: number;
  matchCriteriaEnable: number;
  matchMask: Uint8Array;
  compMask: bigint;
  ftType: number;
  ibPort: number;
}

export interface NativeFlowActionAttr {
  type: number;
  object?: NativeHandle;
  tagValue?: number;
  offset?: number;
}

/** Of native/binding/flow.cc and flow_actions.cc. */
export interface NativeFlow {
  createFlowMatcher(library: NativeLibrary, context: NativeHandle, attr: NativeMatcherAttr): NativeHandle | number;
  createFlow(matcher: NativeHandle, value: Uint8Array, actions: NativeFlowActionAttr[]): NativeHandle | number;
  createFlowActionPacketReformat(
    library: NativeLibrary,
    context: NativeHandle,
    data: Uint8Array | undefined,
    reformatType: number,
    ftType: number,
  ): NativeHandle | number;
  createFlowActionModifyHeader(
    library: NativeLibrary,
    context: NativeHandle,
    actions: Uint8Array | BigUint64Array,
    ftType: number,
  ): NativeHandle | number;
  createSteeringAnchor(
    library: NativeLibrary,
    context: NativeHandle,
    attr: { ftType: number; priority: number },
  ): { handle: NativeHandle; id: number } | number;
}
