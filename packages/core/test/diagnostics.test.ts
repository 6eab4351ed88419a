import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, expect, it } from 'vitest';
import { type ObjectMessage, openDevice } from '../src/index.js';
import { collectUntil } from './helpers/collect.js';
import { open } from './helpers/devices.js';

const undo: (() => void)[] = [];

afterEach(() => {
  for (const each of undo.splice(0)) each();
});

/** What a channel tells from now on. */
function listen(name: string): ObjectMessage[] {
  const heard: ObjectMessage[] = [];
  const take = (message: unknown) => heard.push(message as ObjectMessage);
  subscribe(name, take);
  undo.push(() => unsubscribe(name, take));
  return heard;
}

it('tells of every object that is made and closed, by type and number', () => {
  const [opened, closed] = [listen('verbs:object:open'), listen('verbs:object:close')];
  const ctx = open();
  ctx.allocPd().allocMr(64, 1);
  expect(opened.map(({ type }) => type)).toEqual(['Context', 'ProtectionDomain', 'MemoryRegion']);
  ctx.close();
  // Children before parents.
  expect(closed).toEqual([...opened].reverse());
});

it('tells of what was collected without a close, with the place where it was made, and of nothing else', async () => {
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
