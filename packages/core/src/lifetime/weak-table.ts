/** Objects by number, held weakly, in the order of their numbers. What was collected leaves by itself. */
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

  /** At least as many as are still there. */
  get size(): number {
    return this.#entries.size;
  }

  delete(id: number): void {
    this.#entries.delete(id);
  }

  /** Those that are still there, oldest first. */
  values(): T[] {
    return [...this.#entries.values()].flatMap((reference) => reference.deref() ?? []);
  }

  /** At doubled sizes only, so that its cost does not show. */
  #sweep(): void {
    for (const [id, reference] of this.#entries) if (reference.deref() === undefined) this.#entries.delete(id);
    this.#sweepAt = Math.max(64, 2 * this.#entries.size);
  }
}
