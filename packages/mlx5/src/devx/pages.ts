import type { Context } from '@verbs/core';
import { members, type Members, Resource, validate } from '@verbs/core/provider';
import { counted, done, made } from '../base/calls.js';
import { forContext, libraryFor } from '../base/libraries.js';
import { native, type NativeHandle } from '../native/index.js';
import { refusal, request } from './command.js';
import { exported, exportSize } from './sharing.js';

enum UarAllocTypeValue {
  /** With a BlueField register, for writing whole entries. */
  BF = 0,
  /** Doorbells only. */
  NC = 1,
}
/** `MLX5DV_UAR_ALLOC_TYPE_*`. */
export const UarAllocType: Members<typeof UarAllocTypeValue> = members(UarAllocTypeValue);
/** A value of {@link UarAllocType}. A number that comes from C is one as well; another enumeration's value is not. */
export type UarAllocType = UarAllocTypeValue;

/**
 * `struct mlx5dv_devx_uar`: a page of the device's doorbell registers, for queues made by commands. Made by
 * {@link devx.allocUar}; `close()` is `mlx5dv_devx_free_uar`. It gives no access to the mapped registers.
 */
export class Uar extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** The number in commands. */
  readonly pageId: number;
  /** Its offset in the device's file. */
  readonly mmapOff: bigint;

  /** @internal */
  constructor(context: Context, made: { handle: NativeHandle; id: number; mmapOff: bigint }) {
    super('Uar', made.handle, 'mlx5dv_devx_free_uar', [context]);
    this.context = context;
    this.pageId = made.id;
    this.mmapOff = made.mmapOff;
  }

  /**
   * `mlx5dv_devx_uar_export_dmabuf_fd`: the page as a dma-buf. The descriptor is the caller's to close.
   *
   * @throws VerbsError EOPNOTSUPP (a libmlx5 before rdma-core 62)
   */
  exportDmabufFd(): number {
    const syscall = 'mlx5dv_devx_uar_export_dmabuf_fd';
    const handle = this.use(syscall);
    return counted(native.devxUarExportDmabufFd(handle), {
      library: libraryFor(this.context.device.library, syscall),
      syscall,
    });
  }

  protected override describe(): Record<string, unknown> {
    return { pageId: this.pageId };
  }
}

/**
 * `mlx5dv_devx_alloc_uar`.
 *
 * @param flags {@link devx.UarAllocType}, default NC
 * @throws VerbsError EOPNOTSUPP, ENOMEM
 */
export function allocUar(ctx: Context, flags: UarAllocType = UarAllocType.NC): Uar {
  const syscall = 'mlx5dv_devx_alloc_uar';
  const { library, handle } = forContext(ctx, syscall);
  validate.integer(flags, 'flags', 0, 0xffffffff);
  return new Uar(ctx, made(native.devxAllocUar(library, handle, flags), { library, syscall }));
}

/** A new VAR. */
export interface MadeVar {
  handle: NativeHandle;
  id: number;
  length: number;
  mmapOff: bigint;
}

/**
 * `struct mlx5dv_var`: a page of doorbells of an emulated virtio device. Made by {@link devx.allocVar}; `close()` is
 * `mlx5dv_free_var`, or `mlx5dv_var_unimport` for an imported one.
 */
export class Var extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** The number in commands. */
  readonly pageId: number;
  /** Bytes. */
  readonly length: number;
  /** Its offset in the device's file. */
  readonly mmapOff: bigint;

  /** @internal */
  constructor(context: Context, made: MadeVar, syscall: string) {
    super('Var', made.handle, syscall, [context]);
    this.context = context;
    this.pageId = made.id;
    this.length = made.length;
    this.mmapOff = made.mmapOff;
  }

  /** `mlx5dv_var_export`: data for {@link devx.importVar}. @throws VerbsError EOPNOTSUPP */
  export(): Uint8Array {
    const syscall = 'mlx5dv_var_export';
    const handle = this.use(syscall);
    const library = libraryFor(this.context.device.library, syscall);
    const data = new Uint8Array(exportSize(library, 'varAttrsSize', syscall));
    done(native.varExport(handle, data), { library, syscall });
    return data;
  }

  protected override describe(): Record<string, unknown> {
    return { pageId: this.pageId, length: this.length };
  }
}

/** `mlx5dv_alloc_var`. @throws VerbsError EOPNOTSUPP, ENOMEM */
export function allocVar(ctx: Context, flags = 0): Var {
  const syscall = 'mlx5dv_alloc_var';
  const { library, handle } = forContext(ctx, syscall);
  validate.integer(flags, 'flags', 0, 0xffffffff);
  return new Var(ctx, made(native.allocVar(library, handle, flags), { library, syscall }), 'mlx5dv_free_var');
}

/**
 * `mlx5dv_var_import`.
 *
 * @param data from {@link Var.export}; the library does not detect other bytes
 * @throws VerbsError EOPNOTSUPP (a libmlx5 before rdma-core 63), EINVAL
 */
export function importVar(ctx: Context, data: Uint8Array): Var {
  const syscall = 'mlx5dv_var_import';
  const { library, handle } = forContext(ctx, syscall);
  const bytes = exported(data, library, 'varAttrsSize', syscall);
  return new Var(ctx, made(native.varImport(library, handle, bytes), { library, syscall }), 'mlx5dv_var_unimport');
}

/**
 * `struct mlx5dv_devx_msi_vector`: an interrupt of the device as an event descriptor. VFIO only. Made by
 * {@link devx.allocMsiVector}; `close()` is `mlx5dv_devx_free_msi_vector`.
 */
export class MsiVector extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** The number in commands. */
  readonly vector: number;
  /** Readable after an interrupt. It belongs to the object: do not close it. */
  readonly fd: number;

  /** @internal */
  constructor(context: Context, made: { handle: NativeHandle; vector: number; fd: number }) {
    super('MsiVector', made.handle, 'mlx5dv_devx_free_msi_vector', [context]);
    this.context = context;
    this.vector = made.vector;
    this.fd = made.fd;
  }

  protected override describe(): Record<string, unknown> {
    return { vector: this.vector, fd: this.fd };
  }
}

/** `mlx5dv_devx_alloc_msi_vector`. @throws VerbsError EOPNOTSUPP (not opened by VFIO) */
export function allocMsiVector(ctx: Context): MsiVector {
  const syscall = 'mlx5dv_devx_alloc_msi_vector';
  const { library, handle } = forContext(ctx, syscall);
  return new MsiVector(ctx, made(native.devxAllocMsiVector(library, handle), { library, syscall }));
}

/**
 * `struct mlx5dv_devx_eq`: an event queue. VFIO only. Made by {@link devx.createEq}; `close()` is
 * `mlx5dv_devx_destroy_eq`. It gives no access to its entries.
 */
export class EventQueue extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** The output of the create command. */
  readonly out: Uint8Array;

  /** @internal */
  constructor(context: Context, handle: NativeHandle, out: Uint8Array) {
    super('EventQueue', handle, 'mlx5dv_devx_destroy_eq', [context]);
    this.context = context;
    this.out = out;
  }

  protected override describe(): Record<string, unknown> {
    return { out: Buffer.from(this.out).toString('hex') };
  }
}

/** `mlx5dv_devx_create_eq`, by a CREATE_EQ command. @throws VerbsError EOPNOTSUPP (not opened by VFIO), EREMOTEIO */
export function createEq(ctx: Context, input: Uint8Array, outLength: number): EventQueue {
  const syscall = 'mlx5dv_devx_create_eq';
  const { library, handle } = forContext(ctx, syscall);
  const { bytes, out } = request(input, outLength);
  const result = native.devxCreateEq(library, handle, bytes, out);
  return new EventQueue(ctx, made(result, { library, syscall, detail: refusal(out, bytes) }), out);
}
