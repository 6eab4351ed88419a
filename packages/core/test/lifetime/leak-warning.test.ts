import { describe, expect, it } from 'vitest';
import { programPath, run } from '../helpers/program.js';

const leak = (args: string[], nodeArgs: string[] = [], env: Record<string, string> = {}) =>
  run(programPath('leak-warning.mjs'), { args, nodeArgs: ['--expose-gc', ...nodeArgs], env });

describe('an object that works for others and is collected unclosed', () => {
  it('gives a process warning, one for each kind', async () => {
    const { code, stderr } = await leak([]);
    expect(code).toBe(0);
    const lines = stderr.split('\n').filter((line) => line.includes('VERBS_LEAK'));
    expect(lines.map((line) => line.replace(/^\(node:\d+\) /, '')).sort()).toEqual([
      expect.stringMatching(
        /^\[VERBS_LEAK\] VerbsWarning: a MemoryRegion was collected without close\(\): peers cannot/,
      ),
      expect.stringMatching(
        /^\[VERBS_LEAK\] VerbsWarning: a QueuePair was collected without close\(\): its peers get no/,
      ),
    ]);
    expect(stderr).toContain('Run with --trace-warnings');
  });

  it.each([
    [['--trace-warnings'], {}],
    [[], { NODE_DEBUG: 'verbs' }],
  ])('says where it was made with %j and %j', async (nodeArgs, env) => {
    const { stderr } = await leak([], nodeArgs, env);
    expect(stderr).toMatch(/VERBS_LEAK[^]*at makeAndForget \(.*leak-warning\.mjs:\d+/);
  });

  it('gives none if it was closed', async () => {
    expect(await leak(['close'])).toEqual({ code: 0, signal: null, stdout: '', stderr: '' });
  });
});
