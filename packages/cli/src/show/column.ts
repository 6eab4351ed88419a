const CHUNK_BITS = 16;
const CHUNK = 1 << CHUNK_BITS;

/** A column of 32-bit numbers, of a table with millions of rows. It grows in pieces: nothing is copied, little is unused. */
export class Column {
  readonly #chunks: Uint32Array[] = [];

  /** 0 where nothing was set. */
  get(row: number): number {
    return this.#chunks[row >>> CHUNK_BITS]?.[row & (CHUNK - 1)] ?? 0;
  }

  set(row: number, value: number): void {
    const chunk = (this.#chunks[row >>> CHUNK_BITS] ??= new Uint32Array(CHUNK));
    chunk[row & (CHUNK - 1)] = value;
  }
}
