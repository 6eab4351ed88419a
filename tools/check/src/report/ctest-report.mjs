/** @import { Tally } from './tally.mjs' */
import { add, failureOf } from './tally.mjs';

/**
 * Reads the JUnit file of `ctest --output-junit`. A program of doctest counts as its test cases, which are in its
 * output; any other program counts as one test. A case that finds out only when it runs that it cannot says
 * `MESSAGE("skipped: WHY")`, and counts as skipped.
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
  if (status !== 'run' && status !== 'fail') return { passed: 0, failed: 0, skipped: [name], failures: [] };
  const cases = /\[doctest\] test cases:\s*(\d+) \|\s*(\d+) passed \|\s*(\d+) failed \|\s*(\d+) skipped/.exec(body);
  const skipped = [...body.matchAll(/ MESSAGE: skipped: (.*)/g)].map(([, why]) => `${name}: ${why}`);
  const passed = Number(cases?.[2] ?? (status === 'run' ? 1 : 0)) - skipped.length;
  const leftOut = Number(cases?.[4] ?? 0);
  if (leftOut > 0) skipped.push(`${name}: ${leftOut} cases whose doctest::skip() holds here`);
  const failed = Number(cases?.[3] ?? 0);
  // A program that crashed, or was stopped for its time, has not counted its last test.
  if (status === 'run') return { passed, failed: 0, skipped, failures: [] };
  const failures = [failureOf({ name, message: `${messageOf(body)}\n${errorsIn(body)}`, target: '' })];
  return { passed, failed: Math.max(failed, 1), skipped, failures };
}

/**
 * What ctest says of a program that failed: `SEGFAULT`, `Timeout`, or nothing but that it did.
 * @param {string} body
 */
function messageOf(body) {
  return /<failure message="([^"]*)"/.exec(body)?.[1] ?? '';
}

/**
 * The lines of a program's output that tell of errors, or the last ones.
 * @param {string} body
 */
function errorsIn(body) {
  const lines = body.replaceAll(/<[^>]*>/g, '\n').split('\n');
  const errors = lines.filter((line) => /ERROR:|FATAL|Sanitizer|assert|Segmentation|aborted/i.test(line));
  return (errors.length > 0 ? errors.slice(0, 5) : lines.filter((line) => line.trim() !== '').slice(-5)).join('\n');
}
