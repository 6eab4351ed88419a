/** Objects by number, held weakly, in the order of their numbers. Collected ones disappear by themselves. */
export class WeakTable<T extends object> {
  readonly #entries = new Map<number, WeakRef<T>>();
  #sweepAt = 64;

  set(id: number, value: T): void {
    if (this.#entries.size >= this.#sweepAt) this.#sweep();
    this.#entries.set(id, new WeakRef(value));
  }

  get(id: number): T | undefined {
    return this.#entries.get(id)?.deref();
  }

  /** An upper bound of the number of objects. */
  get size(): number {
    return this.#entries.size;
  }

  delete(id: number): void {
    this.#entries.delete(id);
  }

  /** The objects that are not collected, oldest first. */
  values(): T[] {
    return [...this.#entries.values()].flatMap((reference) => reference.deref() ?? []);
  }

  /** Removes the entries of collected objects. The threshold doubles, so the cost for each object stays constant. */
  #sweep(): void {
    for (const [id, reference] of this.#entries) if (reference.deref() === undefined) this.#entries.delete(id);
    this.#sweepAt = Math.max(64, 2 * this.#entries.size);
  }
}
