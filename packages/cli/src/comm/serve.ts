import type { Endpoint, PeerAddr, Received } from '@verbs/doca-comm';
import { FileReceiver } from '@verbs/lib/comm';
import { messageOf } from '@verbs/lib/failure';
import { inputLines } from './input.js';
import { type Traffic, noTraffic } from './traffic.js';

export interface ServeOptions {
  /** Send each line back. */
  echo: boolean;
  /** The directory to store files in; without it only their checksums are computed. */
  directory: string | undefined;
  /** Ends the service without an error. */
  signal: AbortSignal;
}

export interface ServeEvents {
  onClient(number: number): void;
  onLine(number: number, message: Uint8Array): void;
  onFile(number: number, file: ServedFile): void;
  onLost(number: number): void;
  onTrouble(text: string): void;
}

export interface ServedFile {
  name: string;
  bytes?: number;
  sha256?: string;
  error?: string;
}

export interface ServedClient extends Traffic {
  client: number;
  files: ServedFile[];
}

/** Maximum of responses that wait for a slow client. */
const PATIENCE = 1024;

interface Session {
  readonly record: ServedClient;
  readonly files: FileReceiver;
  waiting: number;
}

/** Serves clients until the signal is aborted. Returns the traffic by client, in the order of connection. */
export async function serve(endpoint: Endpoint, options: ServeOptions, events: ServeEvents): Promise<ServedClient[]> {
  const server = new Server(endpoint, options, events);
  return await server.run();
}

class Server {
  readonly #endpoint: Endpoint;
  readonly #options: ServeOptions;
  readonly #events: ServeEvents;
  readonly #records: ServedClient[] = [];
  readonly #sessions = new Map<PeerAddr, Session>();

  constructor(endpoint: Endpoint, options: ServeOptions, events: ServeEvents) {
    this.#endpoint = endpoint;
    this.#options = options;
    this.#events = events;
  }

  async run(): Promise<ServedClient[]> {
    const endpoint = this.#endpoint;
    const { signal } = this.#options;
    endpoint.on('lost', (peer) => {
      this.#end(peer);
    });
    signal.addEventListener('abort', () => {
      endpoint.close();
    });
    const input = this.#forwardInput();
    input.catch((error: unknown) => {
      this.#events.onTrouble(messageOf(error));
    });
    try {
      for await (const received of endpoint) this.#take(received);
    } finally {
      for (const peer of [...this.#sessions.keys()]) this.#end(peer);
    }
    return this.#records;
  }

  /** Lines of standard input go to every client. The slowest one sets the pace. */
  async #forwardInput(): Promise<void> {
    const refuse = ({ message }: Error) => {
      this.#events.onTrouble(message);
    };
    for await (const line of inputLines(this.#options.signal, this.#endpoint.maxMsgSize, refuse)) {
      await Promise.all([...this.#sessions].map(([peer, session]) => this.#send(peer, session, line)));
    }
  }

  #take({ peer, data }: Received): void {
    const session = this.#sessions.get(peer) ?? this.#begin(peer);
    const { record } = session;
    record.receivedMessages += 1;
    record.receivedBytes += data.length;
    const arrived = session.files.receive(data);
    if (arrived.kind === 'text') {
      this.#events.onLine(record.client, data);
      if (this.#options.echo) this.#respond(peer, session, data);
    } else if (arrived.kind === 'file') {
      const file = { name: arrived.name, ...arrived.result };
      record.files.push(file);
      this.#events.onFile(record.client, file);
      this.#respond(peer, session, arrived.response);
    }
  }

  #begin(peer: PeerAddr): Session {
    const record = { client: this.#records.length + 1, ...noTraffic(), files: [] };
    const session = { record, files: new FileReceiver(this.#options.directory), waiting: 0 };
    this.#records.push(record);
    this.#sessions.set(peer, session);
    this.#events.onClient(record.client);
    return session;
  }

  #end(peer: PeerAddr): void {
    const session = this.#sessions.get(peer);
    if (session === undefined) return;
    this.#sessions.delete(peer);
    session.files[Symbol.dispose]();
    this.#events.onLost(session.record.client);
  }

  #respond(peer: PeerAddr, session: Session, message: Uint8Array): void {
    if (session.waiting >= PATIENCE) {
      this.#events.onTrouble(`client ${session.record.client} does not read its responses: disconnected`);
      this.#end(peer);
      this.#endpoint.disconnect(peer);
      return;
    }
    void this.#send(peer, session, message);
  }

  async #send(peer: PeerAddr, session: Session, message: Uint8Array): Promise<void> {
    session.waiting += 1;
    try {
      await this.#endpoint.send(message, peer, { signal: this.#options.signal });
      session.record.sentMessages += 1;
      session.record.sentBytes += message.length;
    } catch {
      // The iteration reports clients that are gone.
    } finally {
      session.waiting -= 1;
    }
  }
}
