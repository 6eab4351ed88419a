import { expect, test } from 'vitest';
import type { EventSource } from '../src/base/end.js';
import { EventChannel } from '../src/base/event-channel.js';
import { PendingReceives } from '../src/endpoint/pending-receives.js';

test('a message that comes while the waits are tried goes to the first of them', async () => {
  let event: (() => void) | undefined;
  const source: EventSource = {
    loses: false,
    watch: (call) => {
      event = call;
    },
    arm: () => undefined,
    disarm: () => undefined,
    rest: () => undefined,
  };
  const never = { begins: () => false, goesOn: () => false, succeeds: () => undefined };
  const pending = new PendingReceives(() => new EventChannel(source, never as never));
  const messages: number[] = [];
  let looks = 0;
  const receive = () =>
    new Promise<number>((resolve, reject) => {
      pending.add(
        () => {
          const message = messages.shift();
          // They come when the first wait of the event has looked.
          if (++looks === 4) messages.push(1, 2, 3);
          return message;
        },
        { resolve, reject },
      );
    });
  const received = [receive(), receive(), receive()];
  looks = 3;
  event?.();
  event?.();
  expect(await Promise.all(received)).toEqual([1, 2, 3]);
});
