/**
 * One line a step, on stderr, so that the output of what is run stays by itself.
 * @param {string} step
 * @param {string} text
 */
export function say(step, text) {
  console.error(`setup: ${step}: ${text}`);
}
