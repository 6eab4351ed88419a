import { softNic } from '@verbs/soft';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { AsyncEvent } from '../../src/index.js';
import { open } from '../helpers/devices.js';

const turn = () => new Promise((resolve) => setTimeout(resolve, 5));
async function until(what: () => boolean) {
  for (let i = 0; i < 2000 && !what(); i++) await turn();
  expect(what()).toBe(true);
}
const blink = () => {
  const nic = softNic('soft0');
  nic.setLinkDown();
  nic.setLinkUp();
};

describe('events of a device', () => {
  it('come by their names and all together, to every listener', async () => {
    const ctx = open();
    const seen: string[] = [];
    ctx.events.on('PORT_ERR', (event) => {
      expectTypeOf(event).toEqualTypeOf<AsyncEvent>();
      seen.push(`down ${event.portNum ?? ''}`);
    });
    ctx.events.once('PORT_ACTIVE', ({ portNum }) => seen.push(`up ${portNum ?? ''}`));
    ctx.events.on('event', ({ name }) => seen.push(name));
    // @ts-expect-error there is no such event
    ctx.events.on('PORT_LOST', () => undefined);
    blink();
    await until(() => seen.length >= 4);
    expect(seen).toEqual(['down 1', 'PORT_ERR', 'up 1', 'PORT_ACTIVE']);
  });

  it('come to every iteration and to the listeners, and wait for the first of them', async () => {
    const ctx = open();
    const take = async (count: number) => {
      const names: string[] = [];
      for await (const { name } of ctx.asyncEvents()) if (names.push(name) === count) break;
      return names;
    };
    blink();
    expect(await take(1)).toEqual(['PORT_ERR']);
    // The other one was not lost.
    expect(await take(1)).toEqual(['PORT_ACTIVE']);
    const listened: string[] = [];
    ctx.events.on('event', ({ name }) => listened.push(name));
    const both = Promise.all([take(2), take(2)]);
    await turn();
    blink();
    expect(await both).toEqual([
      ['PORT_ERR', 'PORT_ACTIVE'],
      ['PORT_ERR', 'PORT_ACTIVE'],
    ]);
    expect(listened).toEqual(['PORT_ERR', 'PORT_ACTIVE']);
  });

  it('may close the context, and a listener that throws ends no iteration', async () => {
    const thrown: unknown[] = [];
    const own = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException').on('uncaughtException', (error) => thrown.push(error.message));
    try {
      const ctx = open();
      const heard: string[] = [];
      ctx.events.on('PORT_ERR', () => {
        throw new Error('of a listener');
      });
      ctx.events.on('event', ({ name }) => heard.push(name));
      blink();
      const names: string[] = [];
      for await (const { name } of ctx.asyncEvents()) if (names.push(name) === 2) break;
      expect([names, heard]).toEqual([
        ['PORT_ERR', 'PORT_ACTIVE'],
        ['PORT_ERR', 'PORT_ACTIVE'],
      ]);
      const ended = ctx.asyncEvents().next();
      ctx.events.on('PORT_ACTIVE', () => {
        ctx.close();
      });
      blink();
      await ended;
      await until(() => ctx.closed);
      await turn();
      expect(thrown).toEqual(['of a listener', 'of a listener']);
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const listener of own) process.on('uncaughtException', listener);
    }
  });

  it('are not lost in an iteration that the program has dropped', async () => {
    const ctx = open();
    for (const name of ['PORT_ERR', 'PORT_ACTIVE']) {
      if (name === 'PORT_ERR') blink();
      expect((await ctx.asyncEvents().next()).value).toMatchObject({ name });
    }
    const slow = ctx.asyncEvents();
    blink();
    expect((await slow.next()).value).toMatchObject({ name: 'PORT_ERR' });
    for (let i = 0; i < 600; i++) blink();
    for await (const { name } of ctx.asyncEvents()) {
      // One of the newest 1024.
      expect(name).toMatch(/^PORT_/);
      break;
    }
  });

  it('wait again after the last listener left', async () => {
    const ctx = open();
    const { events } = ctx;
    expect(events.hasListeners).toBe(false);
    const listener = () => undefined;
    events.on('event', listener).on('GID_CHANGE', listener);
    expect(events.hasListeners).toBe(true);
    events.off('event', listener).removeAllListeners();
    expect(events.hasListeners).toBe(false);
    blink();
    for await (const { name } of ctx.asyncEvents()) {
      expect(name).toBe('PORT_ERR');
      break;
    }
    let heard = 0;
    events.on('PORT_ERR', () => heard++);
    blink();
    await until(() => heard === 1);
    ctx.close();
    expect(() => ctx.events).toThrow(/ERR_VERBS_CLOSED/);
    events.removeAllListeners();
  });
});
