import type { Connection } from '@verbs/core/rendezvous';

/** JSON values between two programs, over a connection with the option `receive`. The peer is not trusted. */
export class Conversation {
  /** Aborted when the peer has closed the connection or is gone; its last message has been received then. */
  readonly gone: AbortSignal;
  readonly #connection: Connection;
  readonly #received: string[] = [];
  readonly #controller = new AbortController();
  /** Messages on their way. */
  readonly #pending = new Set<Promise<unknown>>();
  #wake: (() => void) | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.gone = this.#controller.signal;
    void this.#listen();
  }

  /** Sends a message; that the peer is gone, `gone` tells. */
  send(message: unknown): void {
    if (this.gone.aborted) return;
    const sent = this.#connection.send(JSON.stringify(message)).catch(() => undefined);
    this.#pending.add(sent);
    void sent.then(() => this.#pending.delete(sent));
  }

  /** The peer's next message. Rejects if the peer closes the connection first. */
  async receive(): Promise<unknown> {
    for (;;) {
      const text = this.#received.shift();
      if (text !== undefined) return parse(text);
      this.gone.throwIfAborted();
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** The next message that has already arrived, or undefined. */
  poll(): unknown {
    const text = this.#received.shift();
    return text === undefined ? undefined : parse(text);
  }

  /** Closes the connection when the peer has every message that was sent, or is gone. */
  async close(): Promise<void> {
    // A peer that got the last message may be gone before it acknowledges that.
    await Promise.race([Promise.all(this.#pending), this.#connection.disconnected]);
    this.#connection.close();
  }

  async #listen(): Promise<void> {
    let cause: unknown;
    try {
      for await (const message of this.#connection.messages) {
        this.#received.push(message.text());
        this.#wake?.();
      }
    } catch (error) {
      // The queue pair failed: the peer does not acknowledge.
      cause = error;
    }
    this.#controller.abort(new Error('the peer has closed its connection', { cause }));
    this.#wake?.();
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('the peer speaks another protocol: it sent a message that is no JSON');
  }
}
