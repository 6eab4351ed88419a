import { expect, it } from 'vitest';
import { openDevice } from '../../src/index.js';
import { listen } from '../helpers/channels.js';
import { programPath, run } from '../helpers/program.js';
import { collectUntil } from '../shared/collect.js';
import { open } from '../helpers/devices.js';

it('publishes every object that is created and closed, by type and number', () => {
  const [opened, closed] = [listen('verbs:object:open'), listen('verbs:object:close')];
  const ctx = open();
  ctx.allocPd().allocMr(64, 1);
  expect(opened.map(({ type }) => type)).toEqual(['Context', 'ProtectionDomain', 'MemoryRegion']);
  ctx.close();
  // Children before parents.
  expect(closed).toEqual([...opened].reverse());
});

it('publishes only objects that were collected without a close, with the place of their creation', async () => {
  const leaked = listen('verbs:object:leaked');
  const forget = () => {
    const ctx = openDevice('soft0');
    ctx.allocPd();
    openDevice('soft0').close();
  };
  forget();
  expect(await collectUntil(() => leaked.length >= 2)).toBe(true);
  await collectUntil(() => leaked.length > 2);
  expect(leaked.map(({ type }) => type).sort()).toEqual(['Context', 'ProtectionDomain']);
  expect(leaked[0]?.stack).toContain('diagnostics.test.ts');
});

it('goes on when subscribers throw, which Node.js reports as uncaught, and lets the process end', async () => {
  const ended = await run(programPath('subscribers.mjs'), { env: { NODE_DEBUG: 'verbs' } });
  expect(ended).toMatchObject({ code: 0, signal: null });
  expect(JSON.parse(ended.stdout)).toEqual({
    results: ['EINVAL', ['WR_FLUSH_ERR'], 'EINVAL', ['WR_FLUSH_ERR']],
    counts: {
      ...{ 'object:open': 10, 'mr:register': 2, 'qp:state': 4, 'post:error': 2, 'completion:error': 2 },
      ...{ 'device:event': 0, 'library:load': 4 },
    },
  });
  // The two copies of the package log together, not twice.
  expect(ended.stderr.match(/open ProtectionDomain/g)).toHaveLength(2);
});
