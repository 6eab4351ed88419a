import type { Context, MemoryRegion } from '@verbs/core';
import { handleOf, Resource, validate } from '@verbs/core/provider';
import { done, made } from '../base/calls.js';
import { forContext, libraryFor } from '../base/libraries.js';
import { native, type NativeHandle } from '../native/index.js';
import { exported, exportSize } from './sharing.js';

const U32 = 0xffffffff;
const MAX = Number.MAX_SAFE_INTEGER;
const U64_MAX = (1n << 64n) - 1n;

/** What {@link devx.regUmem} takes. */
export interface UmemAttr {
  /** Bytes from the region's start, default 0. */
  offset?: number;
  /** Bytes, default the rest of the region. */
  size?: number;
  /** core's `AccessFlags`, or-ed; default LOCAL_WRITE. */
  access?: number;
  /** The page sizes that the device may use, one bit each; makes it `mlx5dv_devx_umem_reg_ex`. */
  pgszBitmap?: bigint;
}

/**
 * `struct mlx5dv_devx_umem`: memory that commands name by a number. Made by {@link devx.regUmem}; `close()` is
 * `mlx5dv_devx_umem_dereg`, or `mlx5dv_devx_umem_unimport` for an imported one.
 */
export class Umem extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** The number in commands. */
  readonly umemId: number;

  /** @internal */
  constructor(
    context: Context,
    made: { handle: NativeHandle; id: number },
    syscall: string,
    others: readonly InstanceType<typeof Resource>[],
  ) {
    super('Umem', made.handle, syscall, [context, ...others]);
    this.context = context;
    this.umemId = made.id;
  }

  /** `mlx5dv_devx_umem_export`: what {@link devx.importUmem} takes. @throws VerbsError EOPNOTSUPP */
  export(): Uint8Array {
    const syscall = 'mlx5dv_devx_umem_export';
    const handle = this.use(syscall);
    const library = libraryFor(this.context.device.library, syscall);
    const data = new Uint8Array(exportSize(library, 'devxUmemAttrsSize', syscall));
    done(native.devxUmemExport(handle, data), { library, syscall });
    return data;
  }

  protected override describe(): Record<string, unknown> {
    return { umemId: this.umemId };
  }
}

/**
 * `mlx5dv_devx_umem_reg`, or `mlx5dv_devx_umem_reg_ex` with `pgszBitmap`: memory for commands. It is that of a memory
 * region, which keeps it from being moved or freed.
 *
 * @throws VerbsError EINVAL (a region without memory of its own), ERANGE (past its end), EOPNOTSUPP
 * @example const umem = devx.regUmem(ctx, pd.allocMr(4096, AccessFlags.LOCAL_WRITE));
 */
export function regUmem(ctx: Context, mr: MemoryRegion, attr: UmemAttr = {}): Umem {
  const given = validate.object(attr, 'attr', ['offset', 'size', 'access', 'pgszBitmap']);
  const bitmap = given['pgszBitmap'];
  const syscall = bitmap === undefined ? 'mlx5dv_devx_umem_reg' : 'mlx5dv_devx_umem_reg_ex';
  const { library, handle } = forContext(ctx, syscall);
  const region = handleOf(mr, 'MemoryRegion', 'mr', syscall);
  const offset = validate.optional(given['offset'], 'attr.offset', MAX, 0);
  const size = validate.optional(given['size'], 'attr.size', MAX, Math.max(mr.length - offset, 0));
  const access = validate.optional(given['access'], 'attr.access', U32, 1);
  const pages = bitmap === undefined ? undefined : BigInt(validate.u64(bitmap, 'attr.pgszBitmap'));
  const result = native.devxUmemReg(library, handle, region, BigInt(offset), BigInt(size), access, pages);
  const detail = `of ${size} bytes at ${offset}`;
  return new Umem(ctx, made(result, { library, syscall, detail }), 'mlx5dv_devx_umem_dereg', [mr]);
}

/**
 * `mlx5dv_devx_umem_reg_ex` of a dma-buf.
 *
 * @param attr `offset` and `size` in bytes; `pgszBitmap` default every page size
 * @throws VerbsError EBADF, EINVAL, EOPNOTSUPP
 */
export function regUmemDmabuf(
  ctx: Context,
  fd: number,
  attr: { offset?: number; size: number; access?: number; pgszBitmap?: bigint },
): Umem {
  const syscall = 'mlx5dv_devx_umem_reg_ex';
  const { library, handle } = forContext(ctx, syscall);
  validate.integer(fd, 'fd', 0, 0x7fffffff);
  const given = validate.object(attr, 'attr', ['offset', 'size', 'access', 'pgszBitmap']);
  const offset = validate.optional(given['offset'], 'attr.offset', MAX, 0);
  const size = validate.integer(given['size'], 'attr.size', 1, MAX);
  const access = validate.optional(given['access'], 'attr.access', U32, 1);
  const pages = BigInt(validate.u64(given['pgszBitmap'] ?? U64_MAX, 'attr.pgszBitmap'));
  const result = native.devxUmemRegDmabuf(library, handle, fd, BigInt(offset), BigInt(size), access, pages);
  return new Umem(ctx, made(result, { library, syscall }), 'mlx5dv_devx_umem_dereg', []);
}

/**
 * `mlx5dv_devx_umem_import`.
 *
 * @param data of {@link Umem.export}; other bytes are not found out by the library
 * @throws VerbsError EOPNOTSUPP (newer than rdma-core 44), EINVAL
 */
export function importUmem(ctx: Context, data: Uint8Array): Umem {
  const syscall = 'mlx5dv_devx_umem_import';
  const { library, handle } = forContext(ctx, syscall);
  const bytes = exported(data, library, 'devxUmemAttrsSize', syscall);
  const imported = made(native.devxUmemImport(library, handle, bytes), { library, syscall });
  return new Umem(ctx, imported, 'mlx5dv_devx_umem_unimport', []);
}
