/** @import { Tarball } from './pack.mjs' */

/**
 * What would be published: a row for each package, and below it what its archive holds by folder.
 * @param {Tarball[]} tarballs
 */
export function releaseTable(tarballs) {
  const width = Math.max(...tarballs.map(({ manifest }) => manifest.name.length));
  return tarballs
    .map(({ manifest, bytes, files }) => {
      const size = `${(bytes / 1000).toFixed(0)} kB`;
      const native = files.filter((file) => file.startsWith('prebuilds/'));
      return [
        `${manifest.name.padEnd(width)}  ${manifest.version.padEnd(8)} ${size.padStart(8)}  ${contents(files)}`,
        ...native.map((file) => `${' '.repeat(width)}  ${file}`),
      ].join('\n');
    })
    .join('\n');
}

/** @param {string[]} files */
function contents(files) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const file of files) {
    const folder = file.includes('/') ? `${file.split('/')[0] ?? ''}/` : file;
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .sort()
    .map(([name, count]) => (name.endsWith('/') ? `${name} (${count})` : name))
    .join(', ');
}

/**
 * The archives in an order in which each comes after those of the workspace that it needs.
 * @param {Tarball[]} tarballs
 * @returns {Tarball[]}
 */
export function publishingOrder(tarballs) {
  const names = new Set(tarballs.map(({ manifest }) => manifest.name));
  /** @type {Tarball[]} */
  const order = [];
  let rest = tarballs;
  while (rest.length > 0) {
    const done = new Set(order.map(({ manifest }) => manifest.name));
    const free = rest.filter(({ manifest: { dependencies = {} } }) =>
      Object.keys(dependencies).every((name) => !names.has(name) || done.has(name)),
    );
    if (free.length === 0)
      throw new Error(`these packages need each other: ${rest.map((r) => r.manifest.name).join(', ')}`);
    order.push(...free);
    rest = rest.filter((each) => !free.includes(each));
  }
  return order;
}
