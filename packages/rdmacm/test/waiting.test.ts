// Waiting for events: iterations, signals, closing.
import { getEventListeners } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { createEventChannel, type EventChannel } from '../src/index.js';
import { server } from './helpers/connections.js';

const channels: EventChannel[] = [];
function channel(): EventChannel {
  const made = createEventChannel({ library: 'soft' });
  channels.push(made);
  return made;
}
afterEach(() => {
  for (const each of channels.splice(0)) each.close();
});

it('ends an iteration when the channel is closed', async () => {
  const events = createEventChannel({ library: 'soft' });
  const seen: string[] = [];
  const over = (async () => {
    for await (const { name } of events) seen.push(name);
  })();
  setImmediate(() => {
    events.close();
  });
  await over;
  expect(seen).toEqual([]);
});

it('rejects with the reason of an aborted signal, and forgets the signal', async () => {
  const events = channel();
  const controller = new AbortController();
  const waiting = events.next({ signal: controller.signal });
  setImmediate(() => {
    controller.abort(new Error('enough'));
  });
  await expect(waiting).rejects.toThrow('enough');
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  await expect(events.next({ signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before');
});

it('refuses an option that it does not know: a misspelt signal would never end the waiting', async () => {
  const events = channel();
  const listening = server();
  const misspelt = { signl: AbortSignal.abort() } as never;
  const waits = [
    () => events.next(misspelt),
    () => events.events(misspelt).next(),
    () => events.createId().resolveAddrinfo('127.0.0.1', 7471, {}, misspelt),
    () => listening.request(misspelt),
    () => listening.requests(misspelt).next(),
  ];
  for (const wait of waits) await expect(wait()).rejects.toThrow(/options\.signl is not known here; known are signal/);
});
