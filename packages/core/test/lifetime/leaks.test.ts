import { expect, it } from 'vitest';
import { programPath, run } from '../helpers/program.js';

// A share of `npm run trial leaks`.
it.each([
  ['closed', []],
  ['collected', ['--collect']],
])(
  'objects of every type that are %s leave nothing',
  async (_, mode) => {
    const args = ['--cycles', '2000', '--warm-up', '2000', '--json', ...mode];
    const ended = await run(programPath('leaks.mjs'), { args, nodeArgs: ['--expose-gc', '--max-semi-space-size=1'] });
    expect(ended.stderr).toBe('');
    const results = JSON.parse(ended.stdout) as { type: string; flat: boolean }[];
    expect(results.filter(({ flat }) => !flat)).toEqual([]);
    expect(results.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['Context', 'MemoryWindow', 'QueuePair, UD']),
    );
    expect(ended.code).toBe(0);
  },
  300_000,
);
