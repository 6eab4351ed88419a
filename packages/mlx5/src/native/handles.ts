import type { sibling } from '@verbs/core';

declare const libraryBrand: unique symbol;

/** A loaded libmlx5. */
export interface NativeLibrary {
  readonly [libraryBrand]: 'libmlx5';
}

/** A type-tagged External of \@verbs/core: a context, queue pair, …, or one of this package's objects. */
export type NativeHandle = Parameters<typeof sibling.adoptContext>[1];
/** A loaded libibverbs. */
export type Libibverbs = Extract<ReturnType<typeof sibling.libibverbs>, { handle: unknown }>['handle'];
