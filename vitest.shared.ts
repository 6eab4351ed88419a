import { mergeConfig } from 'vitest/config';
import base from './vitest.base.ts';

/**
 * For tests that leave nothing behind in their process: what they try runs in processes of its own, is pure logic, or closes what
 * it opened. The files share the processes of two workers, which saves a start for each. A file that crashes its process still
 * ends alone: the next one gets a new process.
 */
export default mergeConfig(base, { test: { isolate: false } });

/** The same, but each of these files has a process of its own: those that look at the whole process, or change it. */
export function sharedBut(...apart: string[]) {
  const { include = [], ...test } = base.test ?? {};
  const projects = [
    { extends: true, test: { name: 'together', include, exclude: apart, isolate: false, sequence: { groupOrder: 0 } } },
    { extends: true, test: { name: 'apart', include: apart, isolate: true, sequence: { groupOrder: 1 } } },
  ];
  return mergeConfig({ ...base, test }, { test: { projects } });
}
