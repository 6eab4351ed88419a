const MB = 1e6;

/** Bytes of the published archives with the files of one platform. */
const limits = new Map([['@verbs/soft', 2 * MB]]);

/**
 * The most bytes that the archive of a package may have.
 * @param {string} name
 */
export function tarballLimits(name) {
  return limits.get(name) ?? MB;
}
