/** @import { Plan } from './plan.mjs' */
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { findLibrary, functionsOf, headerFunctions, librarySymbols } from './c-functions.mjs';
import { publicMembers } from './declarations.mjs';

/**
 * @typedef {object} Coverage
 * @property {{ name: string, api: string[], reason?: string, inline: boolean }[]} rows by the C function
 * @property {string[]} problems everything that is not accounted for
 * @property {string[]} missing libraries that were not found
 */

/**
 * Compares the functions of the C library, the addon's methods and the TypeScript declarations.
 *
 * The functions are those that our drop-in library exports, and those that every header defines inline; so the rows are the
 * same with the headers and libraries of any release. What these have beyond the rows is a problem.
 * @param {string} directory of the package
 * @param {Plan} plan
 * @param {readonly string[]} [releases] map files, libraries and folders of headers of further releases
 * @returns {Coverage}
 */
export function cover(directory, plan, releases = []) {
  const { functions, notExposed, inline = [], others = [] } = plan;
  const exported = librarySymbols(plan, resolve(directory, plan.dropIn));
  const declared = headerFunctions(plan);
  const all = new Set([...exported, ...declared, ...inline, ...others]);
  const problems = [];

  for (const name of all) {
    if (!(name in functions) && !(name in notExposed)) problems.push(`${name} is neither exposed nor listed`);
  }
  const installed = findLibrary(plan.installed);
  const compared = installed === undefined ? releases : [installed, ...releases];
  for (const release of compared) {
    for (const name of functionsOf(plan, release))
      if (!all.has(name)) problems.push(`${name} of ${release} is not known`);
  }
  problems.push(...accounts(directory, plan, all));

  const rows = [...all].sort().map((name) => ({
    name,
    api: functions[name]?.api ?? [],
    ...(notExposed[name] === undefined ? {} : { reason: notExposed[name] }),
    inline: !exported.has(name) && !others.includes(name),
  }));
  return { rows, problems, missing: installed === undefined ? [plan.installed] : [] };
}

/**
 * What is wrong with the plan's statements about these functions.
 * @param {string} directory
 * @param {Plan} plan
 * @param {ReadonlySet<string>} all
 */
function accounts(directory, { functions, notExposed, helpers, addon, declarations }, all) {
  /** @type {Record<string, unknown>} */
  const exported = createRequire(import.meta.url)(resolve(directory, addon));
  const methods = new Set(Object.keys(exported));
  const members = publicMembers(resolve(directory, declarations));
  const problems = [];
  for (const name of [...Object.keys(functions), ...Object.keys(notExposed)]) {
    if (!all.has(name))
      problems.push(`${name} is in api-coverage.json, but no header declares and no library exports it`);
    if (name in functions && name in notExposed) problems.push(`${name} is both exposed and listed as not exposed`);
  }
  for (const [name, { api, native = [] }] of Object.entries(functions)) {
    for (const member of api) {
      const text = members.get(member);
      if (text === undefined) problems.push(`${name}: there is no public ${member}`);
      // close() is documented once, at its class.
      else if (!mentions(text, name) && !mentions(members.get(member.replace(/\.close$/, '')) ?? '', name))
        problems.push(`${name}: the documentation of ${member} does not name it`);
    }
    for (const method of native) if (!methods.has(method)) problems.push(`${name}: the addon has no ${method}`);
  }
  const used = new Set([...Object.values(functions).flatMap(({ native = [] }) => native), ...Object.keys(helpers)]);
  for (const method of methods) if (!used.has(method)) problems.push(`the addon's ${method} stands for no function`);
  for (const helper of Object.keys(helpers)) if (!methods.has(helper)) problems.push(`the addon has no ${helper}`);
  return problems;
}

/**
 * @param {string} text
 * @param {string} name
 */
function mentions(text, name) {
  // A leading underscore is an inline function's own; `ibv_wr_*` speaks for a family.
  const plain = name.replace(/^_+/, '');
  const families = [...text.matchAll(/\b(\w+_)\*/g)].map(([, prefix = '']) => prefix);
  return new RegExp(`\\b${plain}\\b`).test(text) || families.some((prefix) => plain.startsWith(prefix));
}
