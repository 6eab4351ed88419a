// Descriptors are watched by libuv, or by a thread in hosts that have another loop.
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { programPath, run } from '../helpers/program.js';

describe.each([
  ['of libuv', []],
  ['of another kind', ['--import', pathToFileURL(programPath('foreign-loop.mjs')).href]],
])('in a loop %s', (_, nodeArgs) => {
  it('waits are woken, given up, and end with their thread and their program', async () => {
    expect(await run(programPath('waits.mjs'), { nodeArgs })).toEqual({
      ...{ code: 0, signal: null, stderr: '' },
      stdout: '2 completions\nTimeoutError\nthread ended\n',
    });
  });
});
