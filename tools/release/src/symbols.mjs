/**
 * The newest versions of system libraries that a prebuilt file may need. These are those of the oldest distributions that
 * are supported: Debian 12, Ubuntu 22.04, RHEL 9 and Amazon Linux 2023. Every Node.js process has libstdc++ loaded.
 */
const limits = { GLIBC: '2.34', GLIBCXX: '3.4.29', CXXABI: '1.3.13', GCC: '7.0.0' };

/** @typedef {keyof typeof limits} Family */

/**
 * The newest version of each family in the output of `objdump -T`.
 * @param {string} text
 * @returns {Partial<Record<Family, string>>}
 */
export function neededVersions(text) {
  /** @type {Partial<Record<Family, string>>} */
  const needed = {};
  for (const [, name, version = ''] of text.matchAll(/\((GLIBC|GLIBCXX|CXXABI|GCC)_([\d.]+)\)/g)) {
    const family = /** @type {Family} */ (name);
    const before = needed[family];
    if (before === undefined || compareVersions(version, before) > 0) needed[family] = version;
  }
  return needed;
}

/**
 * The needed versions that no supported distribution has to have: `GLIBC_2.36`.
 * @param {Partial<Record<Family, string>>} needed
 */
export function tooNew(needed) {
  return Object.entries(needed)
    .filter(([family, version]) => compareVersions(version, limits[/** @type {Family} */ (family)]) > 0)
    .map(([family, version]) => `${family}_${version}`);
}

/**
 * @param {string} one
 * @param {string} other
 */
export function compareVersions(one, other) {
  const [a, b] = [one, other].map((version) => version.split('.').map(Number));
  for (let i = 0; i < Math.max(a?.length ?? 0, b?.length ?? 0); i++) {
    const difference = (a?.[i] ?? 0) - (b?.[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
