declare const libraryBrand: unique symbol;

/** A loaded libmlx5. */
export interface NativeLibrary {
  readonly [libraryBrand]: 'libmlx5';
}

/** An External of \@verbs/core with a type tag: a context, queue pair, …, or one of this package's objects. */
export type { NativeHandle } from '@verbs/core/provider';
/** A loaded libibverbs. */
export type { NativeLibrary as Libibverbs } from '@verbs/core/provider';
