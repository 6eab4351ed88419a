/**
 * A peer's bytes as one line for a terminal. Control characters are printed as \xNN: the peer
 * must not control the user's terminal.
 */
export function lineOf(message: Uint8Array): string {
  return Buffer.from(message)
    .toString()
    .replace(/(?!\t)\p{Cc}/gu, (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
