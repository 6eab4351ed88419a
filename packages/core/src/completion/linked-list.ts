/** What an element of a {@link LinkedList} has for it. */
export interface Linked<T> {
  previous?: T | undefined;
  next?: T | undefined;
}

/** Elements in the order of their arrival; each is removed at once, wherever it is. */
export class LinkedList<T extends Linked<T>> {
  #first: T | undefined;
  #last: T | undefined;

  append(element: T): void {
    element.previous = this.#last;
    if (this.#last === undefined) this.#first = element;
    else this.#last.next = element;
    this.#last = element;
  }

  /** The element must be in this list. */
  remove(element: T): void {
    const { previous, next } = element;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    element.previous = element.next = undefined;
  }

  /** The element that the loop is at may be removed. */
  *[Symbol.iterator](): Generator<T, void, undefined> {
    for (let at = this.#first; at !== undefined;) {
      const { next } = at;
      yield at;
      at = next;
    }
  }
}
