import type { Context } from '@verbs/core';
import { inspection, Resource, validate } from '@verbs/core/provider';
import { done, made } from '../base/calls.js';
import { forContext, libraryFor } from '../base/libraries.js';
import { native, type NativeHandle, type NativeLibrary } from '../native/index.js';
import { type DomainSyncFlags, DomainType } from './enums.js';

/**
 * `struct mlx5dv_dr_domain`: the tables of one direction. Made by {@link dr.createDomain}; `close()` is
 * `mlx5dv_dr_domain_destroy`.
 */
export class Domain extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** See {@link dr.DomainType}. */
  readonly type: DomainType;

  /** @internal */
  constructor(context: Context, handle: NativeHandle, type: DomainType) {
    super('Domain', handle, 'mlx5dv_dr_domain_destroy', [context]);
    this.context = context;
    this.type = type;
  }

  /** @internal */
  library(syscall: string): NativeLibrary {
    return libraryFor(this.context.device.library, syscall);
  }

  /**
   * `mlx5dv_dr_domain_sync`: waits until the rules are in force; the device applies them in the background.
   *
   * @param flags {@link dr.DomainSyncFlags}, or-ed
   * @throws VerbsError EINVAL
   */
  sync(flags: DomainSyncFlags): void {
    const syscall = 'mlx5dv_dr_domain_sync';
    const domain = this.use(syscall);
    validate.integer(flags, 'flags', 0, 0xffffffff);
    done(native.drDomainSync(domain, flags), { library: this.library(syscall), syscall });
  }

  /** `mlx5dv_dr_domain_set_reclaim_device_memory`: whether the device gets the memory of closed rules back. */
  setReclaimDeviceMemory(enable: boolean): void {
    const syscall = 'mlx5dv_dr_domain_set_reclaim_device_memory';
    const domain = this.use(syscall);
    if (typeof enable !== 'boolean') throw validate.typeError('enable', 'a boolean', enable);
    done(native.drDomainSetReclaimDeviceMemory(domain, enable), { library: this.library(syscall), syscall });
  }

  /**
   * `mlx5dv_dr_domain_allow_duplicate_rules`: whether a second rule with the same match is allowed; default true. The older
   * one applies until it is closed. So a swap without a gap makes the new rule first, and then closes the old one.
   */
  allowDuplicateRules(allow: boolean): void {
    const syscall = 'mlx5dv_dr_domain_allow_duplicate_rules';
    const domain = this.use(syscall);
    if (typeof allow !== 'boolean') throw validate.typeError('allow', 'a boolean', allow);
    done(native.drDomainAllowDuplicateRules(domain, allow), { library: this.library(syscall), syscall });
  }

  /** `mlx5dv_dump_dr_domain`: its contents, in the library's text form for its own tools. */
  dump(): string {
    const syscall = 'mlx5dv_dump_dr_domain';
    return made(native.dumpDrDomain(this.use(syscall)), { library: this.library(syscall), syscall });
  }

  protected override describe(): Record<string, unknown> {
    return { type: inspection.named(DomainType, this.type) };
  }
}

/**
 * `mlx5dv_dr_domain_create`.
 *
 * @param type {@link dr.DomainType}
 * @throws VerbsError EOPNOTSUPP, EINVAL (no such type), EPERM
 * @example
 * const domain = dr.createDomain(ctx, dr.DomainType.NIC_RX);
 * const table = dr.createTable(domain, 1);
 */
export function createDomain(ctx: Context, type: DomainType): Domain {
  const syscall = 'mlx5dv_dr_domain_create';
  const { library, handle } = forContext(ctx, syscall);
  validate.integer(type, 'type', 0, 0xffffffff);
  const detail = `of type ${type}`;
  return new Domain(ctx, made(native.drDomainCreate(library, handle, type), { library, syscall, detail }), type);
}
