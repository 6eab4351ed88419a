/** @import { Difference } from './differences.mjs' */

/** The parts of a run. */
export const parts = /** @type {const} */ (['conformance', 'refusals', 'programs', 'core']);
/** @typedef {(typeof parts)[number]} Part */

/**
 * How one case or program ended on rxe.
 * @typedef {object} KernelResult
 * @property {Part} part
 * @property {string} name
 * @property {'passed' | 'failed' | 'skipped'} result
 * @property {string} message
 */

/**
 * What the kernel's rxe does otherwise than our NIC, each with its reason, and what fails: a difference without a reason, and
 * a reason without a difference.
 * @param {readonly KernelResult[]} results
 * @param {readonly Difference[]} differences
 * @param {{ kernel: string, complete: boolean }} run complete: every case ran, so that each reason must apply
 */
export function kernelReport(results, differences, { kernel, complete }) {
  const reasons = new Map(differences.flatMap((one) => one.cases.map((name) => [name, one])));
  /** @type {string[]} */
  const known = [];
  /** @type {string[]} */
  const wrong = [];
  for (const { name, result, message } of results) {
    const difference = reasons.get(name);
    if (result === 'failed' && difference !== undefined) known.push(`${name}: ${difference.reason}`);
    if (result === 'failed' && difference === undefined) wrong.push(`FAILED ${name}: ${message}`);
    if (result === 'passed' && difference !== undefined && difference.sometimes !== true) {
      wrong.push(`FAILED ${name}: it passes, so this reason no longer applies: ${difference.reason}`);
    }
  }
  const ran = new Set(results.map(({ name }) => name));
  for (const name of complete ? reasons.keys() : []) {
    if (!ran.has(name)) wrong.push(`FAILED ${name}: there is a reason for it, and no such case`);
  }
  const lines = [`Our suite and programs on rxe of Linux ${kernel}`, ''];
  for (const part of new Set(results.map((result) => result.part))) {
    const some = results.filter((result) => result.part === part);
    const count = (/** @type {string} */ wanted) => some.filter(({ result }) => result === wanted).length;
    lines.push(
      `${part}: ${some.length} in all, ${count('passed')} passed, ${count('skipped')} skipped, ${count('failed')} differ`,
    );
  }
  lines.push('', ...known.map((line) => `differs: ${line}`));
  for (const { name, result, message } of results) if (result === 'skipped') lines.push(`skipped: ${name}: ${message}`);
  lines.push(...wrong);
  return { text: lines.join('\n'), ok: wrong.length === 0 && results.length > 0 };
}
