import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { check, fill } from '../messages/ends.js';
import { connectSocket, onMessages, put, socketPath } from '../messages/framed-socket.js';
import type { MeasuringEnd, ServingEnd, Way } from './way.js';

class SocketServer implements ServingEnd {
  readonly address = String(process.pid);
  readonly #size: number;
  readonly #server = createServer().listen(socketPath(process.pid));

  constructor(size: number) {
    this.#size = size;
  }

  async join(): Promise<void> {
    if (!this.#server.listening) await once(this.#server, 'listening');
  }

  async serve(): Promise<void> {
    const [socket] = (await once(this.#server, 'connection')) as [Socket];
    let n = 0;
    onMessages(socket, (message) => {
      check(message, n++, this.#size);
      put(socket, message);
    });
    await once(socket, 'close');
  }

  [Symbol.dispose](): void {
    this.#server.close();
  }
}

class SocketClient implements MeasuringEnd {
  readonly address = '';
  readonly #message: Uint8Array;
  #socket: Socket | undefined;
  #answered: (answer: Buffer) => void = () => undefined;
  #n = 0;

  constructor(size: number) {
    this.#message = new Uint8Array(size);
  }

  async join(pid: string): Promise<void> {
    this.#socket = connectSocket(Number(pid));
    await once(this.#socket, 'connect');
    onMessages(this.#socket, (answer) => {
      this.#answered(answer);
    });
  }

  measure(samples: Float64Array): Promise<void> {
    const socket = this.#socket;
    if (socket === undefined) throw new Error('not joined');
    return new Promise((resolve, reject) => {
      let index = 0;
      let start = 0;
      const next = () => {
        start = performance.now();
        fill(this.#message, this.#n);
        put(socket, this.#message);
      };
      this.#answered = (answer) => {
        try {
          check(answer, this.#n++, this.#message.length);
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
          return;
        }
        samples[index++] = performance.now() - start;
        if (index === samples.length) resolve();
        else next();
      };
      next();
    });
  }

  [Symbol.dispose](): void {
    this.#socket?.destroy();
  }
}

/** Node's net on a unix socket, each message behind its length. */
export const socketWay: Way = {
  serving: (size) => new SocketServer(size),
  measuring: (size) => new SocketClient(size),
};
