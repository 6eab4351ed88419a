/** Completions that reach the program before the event loop runs its other callbacks. */
const COMPLETIONS_PER_YIELD = 256;

let spent = 0;

/** Counts completions that reach the program, from any queue of this thread. */
export function spend(completions: number): void {
  spent += completions;
}

/** True: the caller yields to the event loop before it delivers more. A new budget begins. */
export function budgetSpent(): boolean {
  if (spent < COMPLETIONS_PER_YIELD) return false;
  spent = 0;
  return true;
}
