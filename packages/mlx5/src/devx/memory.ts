import type { AccessFlags, Context, MemoryRegion } from '@verbs/core';
import { fields, handleOf, maybe, or, Resource, u32, u53, u64, validate } from '@verbs/core/provider';
import { done, made } from '../base/calls.js';
import { forContext, libraryFor } from '../base/libraries.js';
import { native, type NativeHandle } from '../native/index.js';
import { exported, exportSize } from './sharing.js';

const U64_MAX = (1n << 64n) - 1n;

/** The attributes of {@link devx.regUmem}. */
export interface UmemAttr {
  /** Bytes from the region's start, default 0. */
  offset?: number;
  /** Bytes, default the rest of the region. */
  size?: number;
  /** core's `AccessFlags`, or-ed; default LOCAL_WRITE. */
  access?: AccessFlags;
  /** The page sizes that the device may use, one bit each; selects `mlx5dv_devx_umem_reg_ex`. */
  pgszBitmap?: bigint;
}

interface UmemSource {
  mr: MemoryRegion;
  bytes: Uint8Array;
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

  /** @internal Its memory: the region leaves it by a `rereg`, and the device still writes there. */
  readonly bytes: Uint8Array | undefined;

  /** @internal */
  constructor(context: Context, made: { handle: NativeHandle; id: number }, syscall: string, of?: UmemSource) {
    super('Umem', made.handle, syscall, of === undefined ? [context] : [context, of.mr]);
    this.context = context;
    this.umemId = made.id;
    this.bytes = of?.bytes;
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

const place = { offset: or(u53(), 0), access: or(u32(), 1) };
const checkUmem = fields({ ...place, size: maybe(u53()), pgszBitmap: maybe(u64()) });
const checkDmabuf = fields({ ...place, size: u53(1), pgszBitmap: or(u64(), U64_MAX) });

/**
 * `mlx5dv_devx_umem_reg`, or `mlx5dv_devx_umem_reg_ex` with `pgszBitmap`: memory for commands. It is the memory of a
 * region, so that nothing moves or frees it.
 *
 * @throws VerbsError EINVAL (a region without memory of this process, such as one of a dma-buf), ERANGE (past its end), EOPNOTSUPP
 * @example const umem = devx.regUmem(ctx, pd.allocMr(4096, AccessFlags.LOCAL_WRITE));
 */
export function regUmem(ctx: Context, mr: MemoryRegion, attr: UmemAttr = {}): Umem {
  const { offset, access, pgszBitmap: pages, ...given } = checkUmem(attr, 'attr');
  const syscall = pages === undefined ? 'mlx5dv_devx_umem_reg' : 'mlx5dv_devx_umem_reg_ex';
  const { library, handle } = forContext(ctx, syscall);
  const region = handleOf(mr, 'MemoryRegion', 'mr', syscall);
  const { bytes } = mr;
  const size = given.size ?? Math.max(mr.length - offset, 0);
  const result = native.devxUmemReg(library, handle, region, bytes, BigInt(offset), BigInt(size), access, pages);
  const detail = `of ${size} bytes at ${offset}`;
  return new Umem(ctx, made(result, { library, syscall, detail }), 'mlx5dv_devx_umem_dereg', { mr, bytes });
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
  attr: { offset?: number; size: number; access?: AccessFlags; pgszBitmap?: bigint },
): Umem {
  const syscall = 'mlx5dv_devx_umem_reg_ex';
  const { library, handle } = forContext(ctx, syscall);
  validate.integer(fd, 'fd', 0, 0x7fffffff);
  const { offset, size, access, pgszBitmap: pages } = checkDmabuf(attr, 'attr');
  const result = native.devxUmemRegDmabuf(library, handle, fd, BigInt(offset), BigInt(size), access, pages);
  return new Umem(ctx, made(result, { library, syscall }), 'mlx5dv_devx_umem_dereg');
}

/**
 * `mlx5dv_devx_umem_import`.
 *
 * @param data from {@link Umem.export}; the library does not detect other bytes
 * @throws VerbsError EOPNOTSUPP (a libmlx5 before rdma-core 63), EINVAL
 */
export function importUmem(ctx: Context, data: Uint8Array): Umem {
  const syscall = 'mlx5dv_devx_umem_import';
  const { library, handle } = forContext(ctx, syscall);
  const bytes = exported(data, library, 'devxUmemAttrsSize', syscall);
  const imported = made(native.devxUmemImport(library, handle, bytes), { library, syscall });
  return new Umem(ctx, imported, 'mlx5dv_devx_umem_unimport');
}
