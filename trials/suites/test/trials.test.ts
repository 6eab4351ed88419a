// The programs of `npm run trial` are where its table says: most of them run seldom.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { trials } from '../../trials.mjs';

const root = join(import.meta.dirname, '../../..');

test.each(Object.entries(trials))('the program of the trial %s exists', (_name, { command }) => {
  const program = command.find((word) => !word.startsWith('-'));
  expect(existsSync(join(root, program ?? ''))).toBe(true);
});
