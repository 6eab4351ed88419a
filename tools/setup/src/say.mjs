/**
 * One line a step, on stderr, so that stdout holds only the program's output.
 * @param {string} step
 * @param {string} text
 */
export function say(step, text) {
  console.error(`setup: ${step}: ${text}`);
}
