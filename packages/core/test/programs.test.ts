import { describe, expect, it } from 'vitest';
import { programPath, run } from './helpers/program.js';

describe('worker threads', () => {
  it('have contexts of their own, and may end at any moment', async () => {
    const ended = await run(programPath('worker.mjs'));
    expect(ended.stderr).toBe('');
    expect(ended).toMatchObject({ code: 0, signal: null });
    expect(JSON.parse(ended.stdout)).toEqual({ ready: [42, 42, 42, 42], codes: [true, true, true, true], here: 1 });
  });
});

describe('a process', () => {
  it.each([
    ['return', 0],
    ['awaited', 0],
    ['exit', 0],
    ['close-while-waiting', 0],
    ['throw', 1],
    ['throw-in-wake', 1],
  ])('ends by itself with requests in flight: %s', async (ending, code) => {
    const ended = await run(programPath('exit.mjs'), { args: [ending] });
    expect(ended).toMatchObject({ stdout: 'posted\n', code, signal: null, ...(code === 0 ? { stderr: '' } : {}) });
    expect(ended.stderr).toMatch(code === 0 ? /^$/ : /as asked/);
  });

  it('ends with forced collections all the way', async () => {
    const ended = await run(programPath('exit.mjs'), {
      args: ['return'],
      nodeArgs: ['--gc-interval=200', '--expose-gc'],
    });
    expect(ended).toMatchObject({ stdout: 'posted\n', stderr: '', code: 0, signal: null });
  });
});
