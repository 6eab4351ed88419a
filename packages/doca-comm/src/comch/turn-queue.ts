/** The order of those who wait for the same: the first of them comes first. */
export class TurnQueue {
  readonly #waiting: symbol[] = [];

  enter(): symbol {
    const turn = Symbol('turn');
    this.#waiting.push(turn);
    return turn;
  }
  isTurnOf(turn: symbol): boolean {
    return this.#waiting[0] === turn;
  }
  /** False if it has left already. */
  leave(turn: symbol): boolean {
    const at = this.#waiting.indexOf(turn);
    if (at >= 0) this.#waiting.splice(at, 1);
    return at >= 0;
  }
}
