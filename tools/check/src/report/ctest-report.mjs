/** @import { Tally } from './tally.mjs' */
import { add } from './tally.mjs';

/**
 * Reads the JUnit file of `ctest --output-junit`. A program of doctest counts as its test cases, which are in its
 * output; any other program counts as one test.
 * @param {string} xml
 * @returns {Tally}
 */
export function readCtestReport(xml) {
  const programs = [...xml.matchAll(/<testcase\s([^>]*?)(?:\/>|>(.*?)<\/testcase>)/gs)];
  return add(programs.map(([, attributes = '', body = '']) => readProgram(attributes, body)));
}

/**
 * @param {string} attributes
 * @param {string} body
 * @returns {Tally}
 */
function readProgram(attributes, body) {
  const name = /\bname="([^"]*)"/.exec(attributes)?.[1] ?? '?';
  const status = /\bstatus="([^"]*)"/.exec(attributes)?.[1];
  if (status !== 'run' && status !== 'fail') return { passed: 0, failed: 0, skipped: [name] };
  const cases = /\[doctest\] test cases:\s*(\d+) \|\s*(\d+) passed \|\s*(\d+) failed/.exec(body);
  const passed = Number(cases?.[2] ?? (status === 'run' ? 1 : 0));
  const failed = Number(cases?.[3] ?? 0);
  // A program that crashed, or was stopped for its time, has not counted its last test.
  return { passed, failed: status === 'fail' ? Math.max(failed, 1) : failed, skipped: [] };
}
