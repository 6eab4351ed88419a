import type { adoptContext, libibverbs } from '@verbs/core/provider';

declare const libraryBrand: unique symbol;

/** A loaded libmlx5. */
export interface NativeLibrary {
  readonly [libraryBrand]: 'libmlx5';
}

/** A type-tagged External of \@verbs/core: a context, queue pair, …, or one of this package's objects. */
export type NativeHandle = Parameters<typeof adoptContext>[1];
/** A loaded libibverbs. */
export type Libibverbs = Extract<ReturnType<typeof libibverbs>, { handle: unknown }>['handle'];
