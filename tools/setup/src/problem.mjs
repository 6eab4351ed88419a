/** Something the user can put right. The message says what is wrong and what to do; no stack is shown. */
export class Problem extends Error {}

/**
 * A check that found nothing to look at would pass for ever.
 * @param {number} count
 * @param {string} what in the plural
 */
export function mustFind(count, what) {
  if (count === 0) throw new Problem(`it found no ${what}, so nothing was checked: look at what it searches for`);
}
