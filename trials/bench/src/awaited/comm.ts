import { type Client, connectTo, type Service, serviceFor } from '@verbs/lib/comm';
import { check, fill } from '../messages/ends.js';
import type { MeasuringEnd, ServingEnd, Way } from './way.js';

class CommServer implements ServingEnd {
  readonly address = `bench-${process.pid}`;
  readonly #size: number;
  readonly #service: Service = serviceFor(this.address);

  constructor(size: number) {
    this.#size = size;
  }

  join(): Promise<void> {
    return Promise.resolve();
  }

  async serve(): Promise<void> {
    const { endpoint } = this.#service;
    let n = 0;
    for await (const { peer, data } of endpoint) {
      check(data, n++, this.#size);
      await endpoint.send(data, peer);
    }
  }

  [Symbol.dispose](): void {
    this.#service[Symbol.dispose]();
  }
}

class CommClient implements MeasuringEnd {
  readonly address = '';
  readonly #message: Uint8Array;
  #client: Client | undefined;
  #n = 0;

  constructor(size: number) {
    this.#message = new Uint8Array(size);
  }

  async join(name: string): Promise<void> {
    this.#client = await connectTo(name, AbortSignal.timeout(30_000));
  }

  async measure(samples: Float64Array): Promise<void> {
    const endpoint = this.#client?.endpoint;
    if (endpoint === undefined) throw new Error('not joined');
    let index = 0;
    let start = performance.now();
    const next = () => {
      start = performance.now();
      fill(this.#message, this.#n);
      return endpoint.send(this.#message);
    };
    await next();
    for await (const { data } of endpoint) {
      check(data, this.#n++, this.#message.length);
      samples[index++] = performance.now() - start;
      if (index === samples.length) break;
      await next();
    }
  }

  [Symbol.dispose](): void {
    this.#client?.[Symbol.dispose]();
  }
}

/** `send()` and `for await` over the Comm Channel. */
export const commWay: Way = {
  serving: (size) => new CommServer(size),
  measuring: (size) => new CommClient(size),
};
