// Every function that nm finds in the libraries, by a Python program: with right and wrong arguments, in every state.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { softModel } from '../dist/index.js';
import { MINUTE } from './helpers/long.js';
import { foreign } from './helpers/program.js';

const program = fileURLToPath(new URL('programs/every_function.py', import.meta.url));
const libraries = ['comch', 'common'].map((name) => `${softModel.dropIn}/libdoca_${name}.so.2`);

test(
  'every function of Comch, engines, contexts, tasks, memory and buffers: two version nodes, and the documented errors',
  async () => {
    const { ended, output } = foreign('/usr/bin/python3', [program, ...libraries]);
    expect([await ended, output()]).toEqual([0, expect.stringMatching(/^\d{3} functions, \d{4,} calls, 0 wrong\n$/)]);
  },
  MINUTE,
);
