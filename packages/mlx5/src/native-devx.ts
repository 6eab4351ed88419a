import type { NativeHandle, NativeLibrary } from './native-handles.js';

type OnVerbsObject = (library: NativeLibrary, object: NativeHandle, input: Uint8Array, output: Uint8Array) => number;
type OnObject = (object: NativeHandle, input: Uint8Array, output: Uint8Array) => number;

/** Of native/binding/devx.cc. */
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
}
