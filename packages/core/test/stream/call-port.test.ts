import { once } from 'node:events';
import { Duplex, PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest';
import { VerbsError } from '../../src/index.js';
import {
  CallError,
  type CallPort,
  callPort,
  connect,
  createServer,
  messagePort,
  type Socket,
} from '../../src/stream/index.js';

const arithmetic = {
  sum: (numbers: Float64Array) => numbers.reduce((a, b) => a + b, 0),
  divide(a: number, b: number) {
    if (b === 0) throw Object.assign(new RangeError('b is 0'), { code: 'ERR_DIVISION' });
    return a / b;
  },
  later: async (milliseconds: number, text: string) => sleep(milliseconds, text),
  uncloneable: () => () => 1,
  throwText: () => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- what a program may do
    throw 'text';
  },
  oddError: () => {
    throw Object.assign(new Error('odd'), { name: { toString: 1 }, code: () => 1 });
  },
  kill: () => undefined,
};

async function sockets(): Promise<[Socket, Socket]> {
  const server = createServer().listen();
  onTestFinished(() => server[Symbol.asyncDispose]());
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = connect({ port: server.port });
  onTestFinished(() => {
    client.destroy();
  });
  const [other] = await accepted;
  return [client, other];
}

/** A caller, and the port that has the functions. */
async function both(): Promise<[CallPort<typeof arithmetic>, CallPort]> {
  const [client, server] = await sockets();
  return [callPort<typeof arithmetic>(client), callPort(server, arithmetic)];
}

describe('a call port', () => {
  it('calls the functions of the peer, with the types that they have', async () => {
    const [caller] = await both();
    const sum = await caller.call('sum', [new Float64Array([1, 2, 3.5])]);
    expectTypeOf(sum).toEqualTypeOf<number>();
    expect(sum).toBe(6.5);
    expect(await caller.call('later', [1, 'text'])).toBe('text');
    // @ts-expect-error -- it has no such function
    await expect(caller.call('product', [])).rejects.toThrow("the peer has no function 'product'");
    // @ts-expect-error -- a number is no text
    const wrong = caller.call('later', [1, 2]);
    expect(await wrong).toBe(2);
  });

  it('answers as calls end, and many at a time', async () => {
    const [caller] = await both();
    const order: string[] = [];
    await Promise.all(
      [60, 1, 30].map(async (milliseconds) =>
        order.push(await caller.call('later', [milliseconds, String(milliseconds)])),
      ),
    );
    expect(order).toEqual(['1', '30', '60']);
    const all = Array.from({ length: 2000 }, (_, n) => caller.call('divide', [n, 2]));
    expect(await Promise.all(all)).toEqual(all.map((_, n) => n / 2));
  });

  it('lets both ends call, also from within a call', async () => {
    const [client, server] = await sockets();
    interface Client {
      name: () => string;
    }
    const there: CallPort<Client> = callPort(server, { greet: async () => `hello ${await there.call('name', [])}` });
    const here = callPort<{ greet: () => Promise<string> }>(client, { name: () => 'client' });
    expect(await here.call('greet', [])).toBe('hello client');
  });

  it('fails as the function does, by name, message and code', async () => {
    const [caller] = await both();
    const failure = await caller.call('divide', [1, 0]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CallError);
    expect(failure).toMatchObject({ name: 'RangeError', message: 'b is 0', code: 'ERR_DIVISION' });
    await expect(caller.call('throwText', [])).rejects.toMatchObject({ name: 'Error', message: "'text'" });
    await expect(caller.call('oddError', [])).rejects.toMatchObject({ name: 'Error', message: 'odd', code: undefined });
    await expect(caller.call('uncloneable', [])).rejects.toThrow('could not be cloned');
    // @ts-expect-error -- nor can it be sent
    await expect(caller.call('sum', [() => 1])).rejects.toThrow('could not be cloned');
    expect(await caller.call('divide', [4, 2])).toBe(2);
  });

  it('fails with an answer that is longer than the caller takes, and ends if not even that fits', async () => {
    const long = { long: () => 'x'.repeat(1000) };
    const [client, server] = await sockets();
    callPort(server, long);
    const caller = callPort<typeof long>(client, {}, { maxBytes: 500 });
    await expect(caller.call('long', [])).rejects.toMatchObject({ name: 'RangeError' });
    const [other, there] = await sockets();
    const port = callPort(there, long);
    const tiny = callPort<typeof long>(other, {}, { maxBytes: 20 });
    await expect(tiny.call('long', [])).rejects.toThrow(VerbsError);
    expect(await port.ended).toBeInstanceOf(RangeError);
  });

  it('calls nothing that the object inherits', async () => {
    const [client, server] = await sockets();
    callPort(server, arithmetic);
    const caller = callPort(client);
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty', ''])
      await expect(caller.call(name, [])).rejects.toThrow(`the peer has no function '${name}'`);
  });

  it('stops to wait by a signal; the late answer is dropped', async () => {
    const [caller] = await both();
    await expect(caller.call('later', [50, 'late'], { signal: AbortSignal.timeout(5) })).rejects.toThrow('timeout');
    await expect(caller.call('later', [1, 'x'], { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow(
      'before',
    );
    expect(await caller.call('later', [60, 'next'])).toBe('next');
  });

  it('rejects what waits when it is closed, here or there', async () => {
    const [one, two] = await both();
    const waits = one.call('later', [10_000, 'never']);
    const closed = expect(waits).rejects.toMatchObject({ code: 'ERR_VERBS_CLOSED' });
    one.close();
    await closed;
    await expect(one.call('sum', [new Float64Array(1)])).rejects.toMatchObject({ code: 'ERR_VERBS_CLOSED' });
    expect(await two.ended).toBeUndefined();
    expect(two.closed).toBe(true);

    const [three, four] = await both();
    const more = expect(three.call('later', [10_000, 'never'])).rejects.toMatchObject({ code: 'ERR_VERBS_CLOSED' });
    await three.call('kill', []);
    four.close();
    await more;
  });

  it('tells why a connection broke', async () => {
    const [client, server] = await sockets();
    callPort(server, arithmetic);
    const caller = callPort<typeof arithmetic>(client);
    const waits = expect(caller.call('later', [10_000, 'never'])).rejects.toMatchObject({ code: 'ECONNRESET' });
    await caller.call('kill', []);
    server.resetAndDestroy();
    server.on('error', () => undefined);
    await waits;
    expect(await caller.ended).toMatchObject({ code: 'ECONNRESET' });
  });

  it.each([
    [7],
    ['text'],
    [[0, 1]],
    [[0, 1, 'sum', 5]],
    [[2, 1, {}, {}]],
    [[0, 'id', 'kill', []]],
    [[9, 1]],
    [null],
    [{ toString: 1 }],
  ])('ends for a peer that sends %j', async (value) => {
    const [client, server] = await sockets();
    const port = callPort(server, arithmetic);
    messagePort(client)
      .on('error', () => undefined)
      .postMessage(value);
    expect(await port.ended).toMatchObject({
      code: 'EPROTO',
      message: expect.stringContaining('callPort()') as string,
    });
  });

  it('ends for a peer whose arguments are an array of four billion holes', async () => {
    const [client, server] = await sockets();
    const port = callPort(server, arithmetic);
    const holes: unknown[] = [];
    holes.length = 2 ** 32 - 1;
    messagePort(client)
      .on('error', () => undefined)
      .postMessage([0, 1, 'kill', holes]);
    expect(await port.ended).toMatchObject({ code: 'EPROTO' });
  });

  it('takes up to 65535 arguments', async () => {
    const count = { count: (...all: number[]) => all.length };
    const [client, server] = await sockets();
    callPort(server, count);
    const caller = callPort<typeof count>(client);
    const most = Array.from({ length: 65_535 }, (_, i) => i);
    expect(await caller.call('count', most)).toBe(65_535);
    await expect(caller.call('count', [...most, 1])).rejects.toThrow('args has 65536 elements; at most 65535');
    expect(await caller.call('count', [1, 2])).toBe(2);
  });

  it('fails one call alone whose arguments are too long, also before the peer has told what it takes', async () => {
    const [client, server] = await sockets();
    callPort(server, arithmetic, { maxBytes: 1000 });
    const caller = callPort<typeof arithmetic>(client);
    const calls = [2, 500, 3].map((length) => caller.call('sum', [new Float64Array(length).fill(1)]));
    await expect(calls[1]).rejects.toMatchObject({ name: 'RangeError', code: 'ERR_OUT_OF_RANGE' });
    expect(await calls[0]).toBe(2);
    expect(await calls[2]).toBe(3);
  });

  it('fails a call whose error cannot be read', async () => {
    const odd = {
      odd: () => {
        throw Object.defineProperty(new Error('odd'), 'name', {
          get() {
            throw new Error('of the getter');
          },
        });
      },
      next: () => 1,
    };
    const [client, server] = await sockets();
    callPort(server, odd);
    const caller = callPort<typeof odd>(client);
    await expect(caller.call('odd', [])).rejects.toThrow('the function threw what cannot be read');
    expect(await caller.call('next', [])).toBe(1);
  });

  it('begins no call while the peer does not take the answers', async () => {
    const [client, server] = await sockets();
    let begun = 0;
    callPort(server, {
      big: () => {
        begun++;
        return new Uint8Array(1_000_000);
      },
    });
    // Without a listener it reads nothing.
    const peer = messagePort(client);
    for (let id = 0; id < 50; id++) peer.postMessage([0, id, 'big', []]);
    await expect.poll(() => begun).toBeGreaterThan(0);
    await sleep(200);
    expect(begun).toBeLessThan(10);
    const ids: unknown[] = [];
    peer.on('message', (answer) => ids.push((answer as unknown[])[1]));
    await expect.poll(() => ids, { timeout: 10_000 }).toEqual(Array.from({ length: 50 }, (_, id) => id));
  });

  it('holds at most 64 MiB of calls of a peer that takes no answers, also while it waits for that peer', async () => {
    const [client, server] = await sockets();
    const port = callPort(server, { big: (bytes: Uint8Array) => bytes });
    const never = port.call('never', []).catch(() => 'ended');
    // Without a listener it reads nothing.
    const peer = messagePort(client);
    let posted = 0;
    for (let id = 0; id < 200; id++) {
      const more = peer.postMessage([0, id, 'big', [new Uint8Array(1_000_000)]]);
      posted++;
      if (!more && !(await Promise.race([once(peer, 'drain').then(() => true), sleep(1000, false)]))) break;
    }
    expect(posted).toBeGreaterThan(60);
    expect(posted).toBeLessThan(90);
    const ids: unknown[] = [];
    peer.on('message', (message) => {
      const [kind, id] = message as unknown[];
      if (kind === 1) ids.push(id);
    });
    await expect.poll(() => ids.length, { timeout: 10_000 }).toBe(posted);
    peer.close();
    expect(await never).toBe('ended');
  });

  it('ends for a peer that goes without having taken its answers', async () => {
    const [client, server] = await sockets();
    const port = callPort(server, { big: () => new Uint8Array(1_000_000) });
    const peer = messagePort(client).on('error', () => undefined);
    for (let id = 0; id < 50; id++) peer.postMessage([0, id, 'big', []]);
    await sleep(200);
    client.resetAndDestroy();
    expect(await port.ended).toMatchObject({ code: 'ECONNRESET' });
  });

  it('never waits for a peer that waits itself: both call, with much in both directions', async () => {
    const echo = { echo: (bytes: Uint8Array) => bytes, later: async (bytes: Uint8Array) => sleep(1, bytes) };
    const ends = (await sockets()).map((socket) => callPort<typeof echo>(socket, echo));
    const calls = ends.flatMap((end) =>
      Array.from({ length: 200 }, (_, i) => end.call(i % 2 === 0 ? 'echo' : 'later', [new Uint8Array(50_000)])),
    );
    expect((await Promise.all(calls)).every(({ byteLength }) => byteLength === 50_000)).toBe(true);
  }, 30_000);

  it('has ended over a socket that is closed', async () => {
    const [client] = await sockets();
    client.destroy();
    await once(client, 'close');
    const port = callPort(client);
    await expect(port.call('any', [])).rejects.toMatchObject({ code: 'ERR_VERBS_CLOSED' });
    expect(await port.ended).toBeUndefined();
  });

  it('refuses wrong arguments by their names', async () => {
    const socket = Duplex.from(new PassThrough());
    expect(() => callPort(socket, null as never)).toThrow('functions must be an object of functions');
    expect(() => callPort(socket, { add: 1 } as never)).toThrow('functions.add must be a function');
    expect(() => callPort({} as never)).toThrow('socket must be a Socket');
    const [caller] = await both();
    await expect(caller.call(5 as never, [] as never)).rejects.toThrow('name must be the name of a function');
    await expect(caller.call('sum', 5 as never)).rejects.toThrow('args must be an array');
    await expect(caller.call('sum', [new Float64Array(1)], { signal: 5 as never })).rejects.toThrow('options.signal');
    await expect(caller.call('sum', [new Float64Array(1)], { signl: 5 } as never)).rejects.toThrow('options.signl');
  });

  it('is the only port of its socket', async () => {
    const [client] = await sockets();
    const port = callPort(client);
    expect(() => callPort(client)).toThrow('socket has a port already');
    expect(() => messagePort(client)).toThrow('socket has a port already');
    port.close();
  });
});
