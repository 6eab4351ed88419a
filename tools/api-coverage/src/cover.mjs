/** @import { Plan } from './plan.mjs' */
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { headerFunctions, librarySymbols } from './c-functions.mjs';
import { publicMembers } from './declarations.mjs';

/**
 * @typedef {object} Coverage
 * @property {{ name: string, api: string[], reason?: string, inline: boolean }[]} rows by the C function
 * @property {string[]} problems everything that is not accounted for
 * @property {string[]} missing libraries that were not found
 */

/**
 * Compares the headers' functions, the libraries' symbols, the addon's methods and the TypeScript declarations.
 * @param {string} directory of the package
 * @param {Plan} plan
 * @returns {Coverage}
 */
export function cover(directory, plan) {
  const declared = headerFunctions(plan);
  const exported = librarySymbols({ ...plan, libraries: plan.libraries.map((path) => located(directory, path)) });
  const addon = /** @type {object} */ (createRequire(import.meta.url)(resolve(directory, plan.addon)));
  const methods = new Set(Object.keys(addon));
  const members = publicMembers(resolve(directory, plan.declarations));
  const { others = [] } = plan;
  const all = new Set([...declared, ...exported.names, ...others]);
  const { functions, notExposed, helpers } = plan;
  const problems = [];

  for (const name of all) {
    if (!(name in functions) && !(name in notExposed)) problems.push(`${name} is neither exposed nor listed`);
  }
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

  const rows = [...all].sort().map((name) => ({
    name,
    api: functions[name]?.api ?? [],
    ...(notExposed[name] === undefined ? {} : { reason: notExposed[name] }),
    inline: declared.has(name) && !exported.names.has(name),
  }));
  return { rows, problems, missing: exported.missing };
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

/**
 * @param {string} directory
 * @param {string} path
 */
function located(directory, path) {
  return path.includes('/') ? resolve(directory, path) : path;
}
