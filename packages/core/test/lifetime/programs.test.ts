import { describe, expect, it } from 'vitest';
import { programPath, run } from '../helpers/program.js';

describe('worker threads', () => {
  it('have contexts of their own, and may end at any moment', async () => {
    const ended = await run(programPath('worker.mjs'));
    expect(ended.stderr).toBe('');
    expect(ended).toMatchObject({ code: 0, signal: null });
    expect(JSON.parse(ended.stdout)).toEqual({ ready: [42, 42, 42, 42], codes: [true, true, true, true], here: 1 });
  });

  it('end in the middle of whatever they do, by terminate()', async () => {
    const ended = await run(programPath('terminate.mjs'), { args: ['3', '1'] });
    expect(ended).toMatchObject({ stderr: '', code: 0, signal: null });
    expect(JSON.parse(ended.stdout)).toMatchObject({ ended: 24, other: [] });
  }, 120_000);

  it.each([
    ['return', 0],
    ['exit', 0],
    ['unclosed', 0],
    ['awaiting', 0],
    ['use-at-exit', 0],
    ['abort-listener', 0],
    ['close-while-waiting', 0],
    ['throw', 1],
    ['throw-in-wake', 1],
  ])('end by themselves with requests in flight, and the process after them: %s', async (ending, code) => {
    const ended = await run(programPath('exit.mjs'), { args: [ending, 'worker'] });
    expect(ended).toMatchObject({ stdout: 'posted\n', code, signal: null });
    expect(ended.stderr).toMatch(code === 0 ? /^$/ : /as asked/);
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

  it('is ended by a signal', async () => {
    const ended = await run(programPath('exit.mjs'), { args: ['signal'] });
    expect(ended).toEqual({ stdout: 'posted\n', stderr: '', code: null, signal: 'SIGTERM' });
  });

  it('ends with forced collections all the way', async () => {
    const ended = await run(programPath('exit.mjs'), {
      args: ['return'],
      nodeArgs: ['--gc-interval=200', '--expose-gc'],
    });
    expect(ended).toMatchObject({ stdout: 'posted\n', stderr: '', code: 0, signal: null });
  });
});
