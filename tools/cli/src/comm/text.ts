/**
 * A peer's bytes as one line for a terminal. What could move the cursor or change colours is shown as \xNN: the other
 * side of a channel is not trusted with the user's screen.
 */
export function lineOf(message: Uint8Array): string {
  return Buffer.from(message)
    .toString()
    .replace(/(?!\t)\p{Cc}/gu, (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
