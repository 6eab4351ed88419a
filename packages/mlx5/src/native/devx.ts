import type { NativeHandle, NativeLibrary } from './handles.js';

type OnVerbsObject = (library: NativeLibrary, object: NativeHandle, input: Uint8Array, output: Uint8Array) => number;
type OnObject = (object: NativeHandle, input: Uint8Array, output: Uint8Array) => number;

interface NativeNumbered {
  handle: NativeHandle;
  id: number;
}
interface NativeVar extends NativeNumbered {
  length: number;
  mmapOff: bigint;
}

/** Of native/binding/devx/. */
export interface NativeDevx {
  devxObjCreate(
    library: NativeLibrary,
    context: NativeHandle,
    input: Uint8Array,
    output: Uint8Array,
  ): NativeHandle | number;
  devxObjQuery: OnObject;
  devxObjModify: OnObject;
  devxGeneralCmd: OnVerbsObject;
  devxCqQuery: OnVerbsObject;
  devxCqModify: OnVerbsObject;
  devxQpQuery: OnVerbsObject;
  devxQpModify: OnVerbsObject;
  devxSrqQuery: OnVerbsObject;
  devxSrqModify: OnVerbsObject;
  devxWqQuery: OnVerbsObject;
  devxWqModify: OnVerbsObject;
  devxIndTblQuery: OnVerbsObject;
  devxIndTblModify: OnVerbsObject;
  devxObjExport(object: NativeHandle, data: Uint8Array): number;
  devxObjImport(library: NativeLibrary, context: NativeHandle, data: Uint8Array): NativeHandle | number;
  exportSizes(
    library: NativeLibrary,
  ): { varAttrsSize: number; devxUmemAttrsSize: number; devxObjAttrsSize: number } | number;
  devxQueryEqn(library: NativeLibrary, context: NativeHandle, vector: number): number;

  // Of devx_memory.cc.
  devxUmemReg(
    library: NativeLibrary,
    context: NativeHandle,
    mr: NativeHandle,
    bytes: Uint8Array,
    offset: bigint,
    size: bigint,
    access: number,
    pgszBitmap: bigint | undefined,
  ): NativeNumbered | number;
  devxUmemRegDmabuf(
    library: NativeLibrary,
    context: NativeHandle,
    fd: number,
    offset: bigint,
    size: bigint,
    access: number,
    pgszBitmap: bigint,
  ): NativeNumbered | number;
  devxUmemExport(umem: NativeHandle, data: Uint8Array): number;
  devxUmemImport(library: NativeLibrary, context: NativeHandle, data: Uint8Array): NativeNumbered | number;
  devxAllocUar(
    library: NativeLibrary,
    context: NativeHandle,
    flags: number,
  ): (NativeNumbered & { mmapOff: bigint }) | number;
  devxUarExportDmabufFd(uar: NativeHandle): number;
  allocVar(library: NativeLibrary, context: NativeHandle, flags: number): NativeVar | number;
  varExport(made: NativeHandle, data: Uint8Array): number;
  varImport(library: NativeLibrary, context: NativeHandle, data: Uint8Array): NativeVar | number;
  devxAllocMsiVector(
    library: NativeLibrary,
    context: NativeHandle,
  ): { handle: NativeHandle; vector: number; fd: number } | number;
  devxCreateEq(
    library: NativeLibrary,
    context: NativeHandle,
    input: Uint8Array,
    output: Uint8Array,
  ): NativeHandle | number;

  // Of devx_events.cc.
  devxCreateCmdComp(library: NativeLibrary, context: NativeHandle): { handle: NativeHandle; fd: number } | number;
  devxObjQueryAsync(
    object: NativeHandle,
    input: Uint8Array,
    outLength: bigint,
    wrId: bigint,
    completions: NativeHandle,
  ): number;
  devxGetAsyncCmdComp(completions: NativeHandle, output: Uint8Array): bigint | number;
  devxCreateEventChannel(
    library: NativeLibrary,
    context: NativeHandle,
    flags: number,
  ): { handle: NativeHandle; fd: number } | number;
  devxSubscribeDevxEvent(
    channel: NativeHandle,
    object: NativeHandle | undefined,
    events: number[],
    cookie: bigint,
  ): number;
  devxSubscribeDevxEventFd(channel: NativeHandle, fd: number, object: NativeHandle | undefined, event: number): number;
  devxGetEvent(channel: NativeHandle, data: Uint8Array): { cookie: bigint; size: number } | number;
}
