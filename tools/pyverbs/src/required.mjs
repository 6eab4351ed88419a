import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The tests that must pass, by their names in the suite. */
export const required = readFileSync(join(import.meta.dirname, '../required.txt'), 'utf8')
  .split('\n')
  .map((line) => line.replace(/#.*/, '').trim())
  .filter((line) => line !== '');
