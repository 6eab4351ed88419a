import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The content of a package's api-coverage.json: its statements about the functions of its C library.
 * @typedef {object} Plan
 * @property {string} title of the document
 * @property {string[]} headers as they are included
 * @property {string} declaredIn a part of the path of the headers whose functions count
 * @property {string} match a regular expression: the names that belong to the library
 * @property {string[]} libraries files or SONAMEs whose exported symbols count, as far as they are there
 * @property {string} [hidden] a regular expression: version nodes of symbols that are not public
 * @property {string[]} [others] names that count too: those of later releases than the header here, or of other processors
 * @property {string} addon
 * @property {string} declarations the bundled .d.ts file
 * @property {string} document the table, as a file of the package
 * @property {Record<string, { api: string[], native?: string[] }>} functions by the C name
 * @property {Record<string, string>} notExposed by the C name, with the reason
 * @property {Record<string, string>} helpers methods of the addon that stand for no C function, with their purpose
 */

/**
 * @param {string} directory of the package
 * @returns {Plan}
 */
export function readPlan(directory) {
  return /** @type {Plan} */ (JSON.parse(readFileSync(join(directory, 'api-coverage.json'), 'utf8')));
}
