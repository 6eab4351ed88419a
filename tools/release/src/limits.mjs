const MB = 1e6;

/** Bytes of the published archives with the files of one platform. */
const limits = new Map([
  ['@verbs/soft', 2 * MB],
  ['@verbs/core', 1.25 * MB],
]);

/**
 * The most bytes that the archive of a package may have.
 * @param {string} name
 * @param {number} [machines] whose files are in it
 */
export function tarballLimits(name, machines = 1) {
  return (limits.get(name) ?? MB) * machines;
}
