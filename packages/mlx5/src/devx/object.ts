import type { Context } from '@verbs/core';
import { Resource } from '@verbs/core/provider';
import { done, made } from '../base/calls.js';
import { forContext, libraryFor } from '../base/libraries.js';
import { native, type NativeHandle } from '../native/index.js';
import { exchange, refusal, request } from './command.js';
import { exportSize } from './sharing.js';

/** A new DEVX object. */
export interface MadeObject {
  handle: NativeHandle;
  /** The output of the create command; empty for an imported object. */
  out: Uint8Array;
  imported?: boolean;
}

/**
 * `struct mlx5dv_devx_obj`: an object of the device's firmware, made by a command of the device's manual. Made by
 * {@link devx.createObj}; `close()` is `mlx5dv_devx_obj_destroy`, or `mlx5dv_devx_obj_unimport` for an imported one.
 */
export class DevxObject extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** The output of the create command. */
  readonly out: Uint8Array;

  /** @internal */
  constructor(context: Context, { handle, out, imported }: MadeObject) {
    super('DevxObject', handle, imported === true ? 'mlx5dv_devx_obj_unimport' : 'mlx5dv_devx_obj_destroy', [context]);
    this.context = context;
    this.out = out;
  }

  /** The object's number, at byte 8 of the output of most create commands: tables, TIRs, counters and others. */
  get id(): number {
    return this.out.byteLength < 12 ? 0 : new DataView(this.out.buffer, this.out.byteOffset).getUint32(8);
  }

  /**
   * `mlx5dv_devx_obj_query`.
   *
   * @returns the output, of `outLength` bytes
   * @throws VerbsError EREMOTEIO (the device rejected the command; the message has its status and syndrome), EINVAL
   */
  query(input: Uint8Array, outLength: number): Uint8Array {
    const syscall = 'mlx5dv_devx_obj_query';
    const handle = this.use(syscall);
    return this.#run(syscall, input, outLength, (bytes, out) => native.devxObjQuery(handle, bytes, out));
  }

  /** `mlx5dv_devx_obj_modify`. As {@link DevxObject.query}. */
  modify(input: Uint8Array, outLength: number): Uint8Array {
    const syscall = 'mlx5dv_devx_obj_modify';
    const handle = this.use(syscall);
    return this.#run(syscall, input, outLength, (bytes, out) => native.devxObjModify(handle, bytes, out));
  }

  /**
   * `mlx5dv_devx_obj_export`: data for {@link devx.importObj}, in this process or in another that shares the device's
   * open file (see `importDevice` of @verbs/core).
   *
   * @throws VerbsError EOPNOTSUPP (a libmlx5 before rdma-core 63)
   */
  export(): Uint8Array {
    const syscall = 'mlx5dv_devx_obj_export';
    const handle = this.use(syscall);
    const library = libraryFor(this.context.device.library, syscall);
    const data = new Uint8Array(exportSize(library, 'devxObjAttrsSize', syscall));
    done(native.devxObjExport(handle, data), { library, syscall });
    return data;
  }

  #run(
    syscall: string,
    input: Uint8Array,
    outLength: number,
    call: (bytes: Uint8Array, out: Uint8Array) => number,
  ): Uint8Array {
    const { bytes, out } = request(input, outLength);
    exchange(call(bytes, out), out, bytes, { library: libraryFor(this.context.device.library, syscall), syscall });
    return out;
  }

  protected override describe(): Record<string, unknown> {
    return { id: this.id, out: Buffer.from(this.out).toString('hex') };
  }
}

/** Runs a create command. */
export function makeObj(ctx: Context, input: Uint8Array, outLength: number): MadeObject {
  const syscall = 'mlx5dv_devx_obj_create';
  const { library, handle } = forContext(ctx, syscall);
  const { bytes, out } = request(input, outLength);
  const result = native.devxObjCreate(library, handle, bytes, out);
  return { handle: made(result, { library, syscall, detail: refusal(out, bytes) }), out };
}
