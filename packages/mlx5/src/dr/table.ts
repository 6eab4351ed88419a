import { handleOf, Resource, validate } from '@verbs/core/provider';
import { made } from '../base/calls.js';
import { native, type NativeHandle } from '../native/index.js';
import type { Domain } from './domain.js';

/**
 * `struct mlx5dv_dr_table`: matchers, asked in the order of their priorities. Made by {@link dr.createTable}; `close()` is
 * `mlx5dv_dr_table_destroy`.
 */
export class Table extends Resource {
  /** The domain that it is in. */
  readonly domain: Domain;
  /** 0 is the root table. */
  readonly level: number;

  /** @internal */
  constructor(domain: Domain, handle: NativeHandle, level: number) {
    super('Table', handle, 'mlx5dv_dr_table_destroy', [domain]);
    this.domain = domain;
    this.level = level;
  }

  /** `mlx5dv_dump_dr_table`: as {@link Domain.dump}. */
  dump(): string {
    const syscall = 'mlx5dv_dump_dr_table';
    return made(native.dumpDrTable(this.use(syscall)), { library: this.domain.library(syscall), syscall });
  }

  protected override describe(): Record<string, unknown> {
    return { level: this.level };
  }
}

/**
 * `mlx5dv_dr_table_create`.
 *
 * @param level 0 is the root table, where packets start; the others are reached by {@link dr.createActionDestTable}
 * @throws VerbsError EINVAL, EOPNOTSUPP (a level above 0 without software steering)
 */
export function createTable(domain: Domain, level: number): Table {
  const syscall = 'mlx5dv_dr_table_create';
  const handle = handleOf(domain, 'Domain', 'domain', syscall);
  validate.integer(level, 'level', 0, 0xffffffff);
  const about = { library: domain.library(syscall), syscall, detail: `of level ${level}` };
  return new Table(domain, made(native.drTableCreate(handle, level), about), level);
}
