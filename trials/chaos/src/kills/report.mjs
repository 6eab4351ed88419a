/** @import { Kill } from './series.mjs' */
import { table } from '../../../../tools/check/src/reliability/table.mjs';
import { SETUP_MS, STANDING_MS, steps } from './steps.mjs';

/** A line for each step of each side. @param {Kill[]} results @param {string[]} left */
export function report(results, left) {
  const lines = steps.flatMap(({ role, name }) => {
    const group = results.filter(({ step }) => step.role === role && step.name === name);
    if (group.length === 0) return [];
    const slowest = (/** @type {'setup' | 'standing'} */ kind) =>
      (Math.max(...group.map((kill) => kill.slowest[kind])) / 1000).toFixed(1);
    const failed = group.filter(({ problems }) => problems.length > 0).length;
    const what = often(group.flatMap(({ outcomes }) => outcomes));
    return [[role, name, group.length, group.length - failed, slowest('setup'), slowest('standing'), what]];
  });
  const failed = results.filter(({ problems }) => problems.length > 0);
  const titles = ['killed', 'step', 'kills', 'ok', `<= ${SETUP_MS / 1000} s`, `<= ${STANDING_MS / 1000} s`];
  const rest = left.length === 0 ? 'nothing is left over' : `left over: ${left.join(', ')}`;
  return {
    text: `${table([...titles, 'the survivor saw'], lines)}\n\n${results.length} kills, ${failed.length} failed; ${rest}`,
    json: {
      kills: results.length,
      failed: failed.map(({ step, seed, problems }) => ({ step, seed, problems })),
      left,
      lines,
    },
    passed: failed.length === 0 && left.length === 0,
  };
}

/** The values with their numbers, most frequent first. @param {string[]} values */
function often(values) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const sorted = [...counts].sort(([, one], [, two]) => two - one);
  return sorted.map(([value, count]) => `${count} ${value}`).join(', ');
}
