// A signal or a timeout at each step of a connection.
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { connect, ConnectionError, lookup, listenDatagrams } from '../src/index.js';
import { keep, pair, portOf, send, server } from './helpers/connections.js';

const reason = new Error('changed my mind');

describe('abort', () => {
  it('before the call', async () => {
    const signal = AbortSignal.abort(reason);
    await expect(connect({ port: 9, signal })).rejects.toBe(reason);
    await expect(server().request({ signal })).rejects.toBe(reason);
  });

  it.each([
    [
      'while the address is resolved',
      (abort: () => void) => {
        queueMicrotask(abort);
      },
    ],
    ['in a later turn', (abort: () => void) => setImmediate(abort)],
    ['while the peer thinks', (abort: () => void) => setTimeout(abort, 50)],
  ] as const)('%s', async (_, later) => {
    const listening = server();
    const controller = new AbortController();
    later(() => {
      controller.abort(reason);
    });
    const { signal } = controller;
    await expect(connect({ port: portOf(listening), signal })).rejects.toBe(reason);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('in prepare', async () => {
    const listening = server();
    const controller = new AbortController();
    const options = { port: portOf(listening), signal: controller.signal };
    const prepare = () => {
      controller.abort(reason);
    };
    await expect(connect({ ...options, prepare })).rejects.toBe(reason);
    await expect(
      connect({
        port: portOf(listening),
        prepare: () => {
          throw reason;
        },
      }),
    ).rejects.toBe(reason);
  });

  it('while prepare waits, and when its time is over', async () => {
    const listening = server();
    const controller = new AbortController();
    const options = { port: portOf(listening), signal: controller.signal };
    const prepare = () => {
      setImmediate(() => {
        controller.abort(reason);
      });
      return new Promise<void>(() => undefined);
    };
    await expect(connect({ ...options, prepare })).rejects.toBe(reason);
    const late = connect({ port: portOf(listening), timeout: 100, prepare: () => new Promise(() => undefined) });
    await expect(late).rejects.toMatchObject({ code: 'TIMEDOUT' });
  });

  it('of a disconnect, before it: the connection stays', async () => {
    const [one, other] = await pair();
    await expect(one.disconnect({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(one.connected).toBe(true);
    expect(await send(one, other, 'still there')).toBe('still there');
  });

  it('of many waits: they share one listener, of more than ten Node.js warns', async () => {
    const [one] = await pair();
    const controller = new AbortController();
    const { signal } = controller;
    const waits = Array.from({ length: 12 }, () => one.whenDisconnected({ signal }));
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    controller.abort(reason);
    for (const wait of waits) await expect(wait).rejects.toBe(reason);
  });

  it('of an accept, whose peer has gone meanwhile', async () => {
    const listening = server();
    const controller = new AbortController();
    const { signal } = controller;
    const failed = expect(connect({ port: portOf(listening), signal })).rejects.toBe(reason);
    const request = await listening.request();
    controller.abort(reason);
    await failed;
    await expect(request.accept({ timeout: 10_000 })).rejects.toBeInstanceOf(Error);
    expect(request.id.closed).toBe(true);
  });

  it('of waiting for the end of a connection', async () => {
    const [one] = await pair();
    const controller = new AbortController();
    const waiting = expect(one.whenDisconnected({ signal: controller.signal })).rejects.toBe(reason);
    controller.abort(reason);
    await waiting;
    await expect(one.whenDisconnected({ timeout: 10 })).rejects.toMatchObject({ code: 'TIMEDOUT' });
    expect(one.connected).toBe(true);
  });
});

it('times out', async () => {
  const listening = server();
  const error: unknown = await connect({ port: portOf(listening), timeout: 30 }).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toMatchObject({ code: 'TIMEDOUT', syscall: 'rdma_connect' });
  const service = keep(listenDatagrams({ library: 'soft' }));
  await expect(lookup({ port: portOf(service), timeout: 30 })).rejects.toMatchObject({
    code: 'TIMEDOUT',
  });
});
