// Waiting for events: iterations, signals, closing.
import { getEventListeners, once } from 'node:events';
import { errno } from '@verbs/core/provider';
import { afterEach, expect, it, vi } from 'vitest';
import { native } from '../src/base/native.js';
import { connect, createEventChannel, type EventChannel } from '../src/index.js';
import { keep, pair, portOf, server } from './helpers/connections.js';

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

it('ends the waits of connections and servers when the program closes their channel', async () => {
  const [one] = await pair();
  const listening = server();
  const request = listening.request();
  const refused = expect(request).rejects.toMatchObject({ code: 'ERR_VERBS_CLOSED' });
  const ended = one.whenDisconnected();
  const { channel } = one.id;
  channel.close();
  expect([channel.closed, one.closed, listening.closed]).toEqual([true, true, true]);
  await Promise.all([ended, refused]);
  await pair();
});

it('a channel that cannot be read for a moment fails those who wait, and is read on for the next ones', async () => {
  const [one, other] = await pair();
  const listening = server();
  const failed = expect(one.whenDisconnected()).rejects.toMatchObject({ code: 'EIO' });
  const reading = vi.spyOn(native, 'getCmEvent').mockReturnValueOnce(-errno.EIO);
  other.id.disconnect();
  await failed;
  reading.mockRestore();
  const accepted = listening.request().then((request) => request.accept());
  keep(await connect({ port: portOf(listening), library: 'soft' }));
  keep(await accepted);
  await one.whenDisconnected();
});

it('a channel that cannot be read for a moment is read on for listeners, who ask for nothing', async () => {
  const [one, other] = await pair();
  const ended = once(one, 'disconnected');
  const reading = vi.spyOn(native, 'getCmEvent').mockReturnValueOnce(-errno.EIO);
  other.id.disconnect();
  await ended;
  reading.mockRestore();
});
