/** So many completions are handed out before other callbacks of Node's loop get their turn. */
const COMPLETIONS_PER_TURN = 256;

let handedOut = 0;

/** Completions go to the program, of whichever queue of this thread. */
export function handOut(count: number): void {
  handedOut += count;
}

/** True: whoever asks lets the loop turn before he hands out more. */
export function mustTurn(): boolean {
  if (handedOut < COMPLETIONS_PER_TURN) return false;
  handedOut = 0;
  return true;
}
