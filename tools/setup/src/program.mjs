import process from 'node:process';
import { Problem } from './problem.mjs';

/**
 * Runs a program's body, whose result is the exit code. A Problem is printed as its message; anything else is a bug
 * of ours and keeps its stack.
 * @param {string} name
 * @param {() => number | Promise<number>} body
 */
export async function runProgram(name, body) {
  try {
    process.exitCode = await body();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    console.error(`\n${name}: ${error.message}`);
    process.exitCode = 1;
  }
}
