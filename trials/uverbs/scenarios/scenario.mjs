/** @import { Context } from '@verbs/core' */
import { openSync, writeSync } from 'node:fs';

/**
 * A scenario: the same calls as the one of its name in native/twin, with the same arguments.
 * @typedef {(context: Context) => void | Promise<void>} Scenario
 */

/** @type {number | undefined} */
let file;

/**
 * Writes a line to the emulated kernel: see native/kernel/control.cc.
 * @param {string} line
 */
export function control(line) {
  file ??= openSync('/dev/infiniband/control', 'r+');
  writeSync(file, line);
}

/**
 * A line about what the program itself saw.
 * @param {string} text
 */
export const saw = (text) => {
  control(`section saw ${text}`);
};

/**
 * The errno of a call that may fail; 0 without an error.
 * @param {() => unknown} call
 * @returns {number}
 */
export function errnoOf(call) {
  try {
    call();
    return 0;
  } catch (error) {
    const { errno } = /** @type {{ errno?: number }} */ (error);
    if (errno === undefined) throw error;
    return Math.abs(errno);
  }
}
