import type { Context } from '@verbs/core';
import { validate } from '@verbs/core/provider';
import { types } from 'node:util';
import { made } from '../base/calls.js';
import { forContext } from '../base/libraries.js';
import { native, type NativeLibrary } from '../native/index.js';

const SYSCALL = '_mlx5dv_get_export_sizes';

/** `struct mlx5dv_export_sizes`: bytes. */
export interface ExportSizes {
  /** Of {@link devx.Var.export}. */
  varAttrsSize: number;
  /** Of {@link devx.Umem.export}. */
  devxUmemAttrsSize: number;
  /** Of {@link devx.DevxObject.export}. */
  devxObjAttrsSize: number;
}

/**
 * `mlx5dv_get_export_sizes` (`_mlx5dv_get_export_sizes`): the sizes of exported objects.
 *
 * @throws VerbsError EOPNOTSUPP from a libmlx5 before rdma-core 63
 */
export function getExportSizes(ctx: Context): ExportSizes {
  const { library } = forContext(ctx, SYSCALL);
  return made(native.exportSizes(library), { library, syscall: SYSCALL });
}

export function exportSize(library: NativeLibrary, name: keyof ExportSizes, syscall: string): number {
  const missing = native.missing(library, syscall) === undefined ? SYSCALL : syscall;
  return made(native.exportSizes(library), { library, syscall: missing })[name];
}

/** Checks the data of an export function. */
export function exported(data: unknown, library: NativeLibrary, name: keyof ExportSizes, syscall: string): Uint8Array {
  if (!types.isUint8Array(data)) throw validate.typeError('data', 'the result of export()', data);
  const size = exportSize(library, name, syscall);
  if (data.byteLength !== size) throw validate.rangeError('data.byteLength', `${size}`, data.byteLength);
  return data;
}
