import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** @import { Arrow } from './graph.mjs' */

/**
 * The includes of a C++ file within its package: `#include "nic/objects/queue_pair.h"` names a header by its path from native/,
 * an exported header by its path from native/include.
 *
 * @param {string} file
 * @param {string} folder the package's
 * @param {ReadonlySet<string>} files all sources of the package
 * @returns {Arrow[]}
 */
export function cppIncludes(file, folder, files) {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/^\s*#\s*include\s+"([^"]+)"/gm)].flatMap(([, name = '']) => {
    const places = [
      dirname(file),
      join(folder, 'native'),
      join(folder, 'native/include'),
      join(folder, 'native/binding'),
    ];
    const to = places.map((place) => join(place, name)).find((path) => files.has(path));
    return to === undefined ? [] : [{ from: file, to, value: true }];
  });
}
