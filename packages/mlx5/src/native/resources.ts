import type { Libibverbs, NativeHandle, NativeLibrary } from './handles.js';

export interface NativeLogin {
  credentialId: number;
  importKekId: number;
  credential: Uint8Array;
}

export interface NativeSched {
  parent?: NativeHandle;
  flags: number;
  bwShare: number;
  maxAvgBw: number;
}

/** Of native/binding/scheduling.cc, crypto.cc and vfio.cc. */
export interface NativeResources {
  schedNodeCreate(library: NativeLibrary, context: NativeHandle, attr: NativeSched): NativeHandle | number;
  schedLeafCreate(library: NativeLibrary, context: NativeHandle, attr: NativeSched): NativeHandle | number;
  schedNodeModify(node: NativeHandle, attr: NativeSched): number;
  schedLeafModify(leaf: NativeHandle, attr: NativeSched): number;
  modifyQpSchedElem(
    library: NativeLibrary,
    qp: NativeHandle,
    requestor: NativeHandle | undefined,
    responder: NativeHandle | undefined,
  ): number;
  ppAlloc(
    library: NativeLibrary,
    context: NativeHandle,
    ppContext: Uint8Array,
    flags: number,
  ): { handle: NativeHandle; index: number } | number;

  cryptoLogin(library: NativeLibrary, context: NativeHandle, attr: NativeLogin): number;
  cryptoLoginQueryState(library: NativeLibrary, context: NativeHandle): number;
  cryptoLogout(library: NativeLibrary, context: NativeHandle): number;
  cryptoLoginCreate(library: NativeLibrary, context: NativeHandle, attr: NativeLogin): NativeHandle | number;
  cryptoLoginQuery(login: NativeHandle): number;
  dekCreate(
    library: NativeLibrary,
    context: NativeHandle,
    pd: NativeHandle,
    attr: {
      keySize: number;
      hasKeytag: boolean;
      keyPurpose: number;
      opaque: Uint8Array;
      key: Uint8Array;
      cryptoLogin?: NativeHandle;
    },
  ): NativeHandle | number;
  dekQuery(dek: NativeHandle): { state: number; opaque: Uint8Array } | number;
  createMkey(
    library: NativeLibrary,
    pd: NativeHandle,
    createFlags: number,
    maxEntries: number,
  ): { handle: NativeHandle; lkey: number; rkey: number } | number;
  mkeyCheck(
    mkey: NativeHandle,
  ): { errType: number; actualValue: bigint; expectedValue: bigint; offset: bigint } | number;

  openVfioDevice(
    library: NativeLibrary,
    libibverbs: Libibverbs,
    pciName: string,
    flags: number,
  ): { handle: NativeHandle; name: string } | number;
  vfioGetEventsFd(library: NativeLibrary, context: NativeHandle): number;
  vfioProcessEvents(library: NativeLibrary, context: NativeHandle): number;
}
