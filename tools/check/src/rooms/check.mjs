import { dirname, join, relative } from 'node:path';
import { cppIncludes } from './cpp-includes.mjs';
import { draw } from './draw.mjs';
import { sourcesBelow } from './files.mjs';
import { forwardFindings } from './forward.mjs';
import { contradictions, cycles } from './graph.mjs';
import { readOrders } from './settings.mjs';
import { typescriptImports } from './typescript-imports.mjs';

/** A folder of about twenty files is still seen at once; above this it wants rooms. */
const MAX_FILES = 24;

/**
 * Checks the rooms of one package.
 *
 * @param {string} folder the package's, absolute
 * @returns {{ findings: string[], diagrams: { root: string, text: string }[], files: number }}
 */
export function checkRooms(folder) {
  const files = ['src', 'native'].flatMap((name) => sourcesBelow(join(folder, name)));
  const known = new Set(files);
  const arrows = files.flatMap((file) =>
    /\.(ts|mjs)$/.test(file) ? typescriptImports(file) : cppIncludes(file, folder, known),
  );
  const orders = readOrders(folder);
  const ahead = new Set(
    orders.flatMap(({ root, forward }) => (forward === undefined ? [] : join(folder, root, forward))),
  );
  const held = arrows.filter(({ from }) => !ahead.has(from));
  const name = (/** @type {string} */ file) => relative(folder, file);
  const findings = [
    ...crowded(files).map(
      ([room, count]) => `${name(room)} has ${count} files: more than ${MAX_FILES}; it wants rooms`,
    ),
    ...cycles(held).map((files) => `a cycle of imports: ${[...files, ...files.slice(0, 1)].map(name).join(' -> ')}`),
  ];
  const diagrams = orders.map((order) => {
    const root = join(folder, order.root);
    const wrong = [...contradictions(order, root, files, held), ...forwardFindings(order, root, arrows)];
    findings.push(...wrong.map((finding) => `${order.root}: ${finding}`));
    return { root: order.root, text: draw(order, root, held) };
  });
  return { findings, diagrams, files: files.length };
}

/** @param {string[]} files */
function crowded(files) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > MAX_FILES);
}
