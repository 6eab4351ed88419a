import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The tests that must pass, by their names in the suite. */
export const required = read('required.txt');

/** Tests that must pass on the model of an mlx5 device. */
export const requiredOnMlx5 = read('required-mlx5.txt');

/** @param {string} file */
function read(file) {
  return readFileSync(join(import.meta.dirname, '.', file), 'utf8')
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((line) => line !== '');
}
