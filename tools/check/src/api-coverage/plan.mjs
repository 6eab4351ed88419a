import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The content of a package's api-coverage.json: its statements about the functions of its C library.
 * @typedef {object} Plan
 * @property {string} title of the document
 * @property {string} release of rdma-core up to which all functions are there
 * @property {string[]} headers as they are included
 * @property {string} declaredIn a part of the path of the headers whose functions count
 * @property {string} match a regular expression: the names that belong to the library
 * @property {string} dropIn our own library, which exports every public function up to that release
 * @property {string} installed the SONAME of the system's, whose functions must be among them
 * @property {string} [hidden] a regular expression: version nodes of symbols that are not public
 * @property {string[]} [inline] functions that only headers have, and not every header or not for every processor
 * @property {string[]} [others] public functions that our library leaves out, or exports without a version
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
