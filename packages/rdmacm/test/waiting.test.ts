// Waiting for events: iterations, signals, closing.
import { getEventListeners } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { createEventChannel, type EventChannel } from '../src/index.js';

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
