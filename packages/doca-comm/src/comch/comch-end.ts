import type { End, EventSource } from '../base/end.js';
import { DocaError, DocaStatus } from '../base/errors.js';
import type { Library } from '../base/libraries.js';
import {
  Channel,
  ComchCapability,
  type ContextHandle,
  type CreatedContext,
  type DeviceHandle,
  native,
  type RepresentorHandle,
  Size,
} from '../base/native.js';
import { Engine, type EngineUser } from './engine.js';
import { ComchSize, ContextState, EventKind, isIdle, isSettled } from './events.js';
import { PeerTable } from './peer-table.js';
import { Source } from './source.js';
import { comchSyscall } from './syscalls.js';

const { AGAIN, ALREADY_EXIST, BAD_STATE, CONNECTION_ABORTED, CONNECTION_RESET, IN_USE, INITIALIZATION } = DocaStatus;
const { INVALID_VALUE, NO_MEMORY, NOT_CONNECTED, NOT_PERMITTED, NOT_SUPPORTED } = DocaStatus;

/** Milliseconds: until a connection is given up, and what a disconnect waits for messages and for the other end. */
const HANDSHAKE = 5000;
const FAREWELL = 1500;
/** Events that one attempt to receive takes from the engine: what is not taken stays in the library, which is back pressure. */
const AT_ONCE = 16;
const limits: Record<number, number> = {
  [Size.MESSAGE]: ComchCapability.MSG_SIZE,
  [Size.RECV_QUEUE]: ComchCapability.RECV_QUEUE_SIZE,
};
/** Milliseconds after a message, when somebody looks whether it has left. */
const ATTENTION = 1;
/** The least message and queue, as of the Comm Channel, and a queue's length that nobody has set. Queues are powers of two. */
const LEAST_MESSAGE = 64;
const LEAST_QUEUE = 8;
const QUEUE = 64;
/** A server's tasks are for all of its clients. */
const SERVER_TASKS = 1024;

/**
 * An end over Comch: a server or a client, which is created when its role and its name are known. It has an engine of its
 * own: as long as the program does not receive, the engine makes no progress, and the library holds the peers back.
 */
export class ComchEnd implements End, EngineUser {
  readonly #library: Library;
  #device: DeviceHandle | undefined;
  #representor: RepresentorHandle | undefined;
  readonly #sizes = new Map<number, number>();
  #engine: Engine | undefined;
  #context: CreatedContext | undefined;
  #server = false;
  #connecting = false;
  #destroyed = false;
  #stopped = false;
  readonly #record = new Uint32Array(5);
  readonly #peers = new PeerTable();
  readonly #attendant = new Source(() => this.#engine, true);
  #attention: NodeJS.Timeout | undefined;
  readonly #sources: Source[] = [this.#attendant];

  constructor(library: Library) {
    this.#library = library;
  }

  syscall(name: string): string {
    return comchSyscall(this.#library.comch?.prefix ?? '', name, this.#server);
  }

  setDevice(device: DeviceHandle): number {
    if (this.#context !== undefined) return -BAD_STATE;
    const supported = native.comchCapability(device, ComchCapability.MSG_SIZE);
    if (supported < 0) return supported;
    this.#device = device;
    return 0;
  }
  setRepresentor(representor: RepresentorHandle): number {
    if (this.#context !== undefined) return -BAD_STATE;
    this.#representor = representor;
    return 0;
  }

  size(which: number): number {
    const context = this.#context?.handle;
    if (context !== undefined && which === Size.MESSAGE) return native.comchSize(context, ComchSize.MESSAGE);
    if (context !== undefined && which === Size.RECV_QUEUE) return native.comchSize(context, ComchSize.RECV_QUEUE);
    if (which !== Size.MESSAGE) return this.#sizes.get(which) ?? QUEUE;
    const most = this.#capability(ComchCapability.MSG_SIZE);
    return this.#sizes.get(which) ?? (most > 0 ? most : 0);
  }
  setSize(which: number, size: number): number {
    if (this.#context !== undefined) return -BAD_STATE;
    const most = this.#capability(limits[which] ?? ComchCapability.SEND_TASKS);
    if (size === 0 || (most > 0 && size > most)) return -INVALID_VALUE;
    this.#sizes.set(which, which === Size.MESSAGE ? Math.max(size, LEAST_MESSAGE) : powerOfTwo(size));
    return 0;
  }
  maxNameLength(): number {
    return Math.max(0, this.#capability(ComchCapability.NAME_LEN));
  }
  lastError(): string {
    return native.lastError(this.#library.handle);
  }

  listen(name: string): number {
    if (this.#context !== undefined) return -NOT_PERMITTED;
    if (this.#device === undefined) return -BAD_STATE;
    if (native.comchCapability(this.#device, ComchCapability.SERVER) < 0) return -NOT_SUPPORTED;
    if (this.#representor === undefined) return -BAD_STATE;
    if (this.#isTooLong(name)) return -CONNECTION_ABORTED;
    const { handle: engine } = this.#makeEngine();
    const created = native.createServer(engine, this.#device, this.#representor, name);
    // The Comm Channel's words: for a representor of another device, and for a service that cannot be registered.
    if (created === -NOT_PERMITTED) return -BAD_STATE;
    const status = this.#start(created, true);
    return status === -ALREADY_EXIST || status === -INITIALIZATION ? -CONNECTION_ABORTED : status;
  }

  connect(name: string): number {
    const status = this.#begin(name);
    if (status < 0) return status;
    const { handle } = this.#active;
    const engine = this.#running;
    const connected = engine.block(() => isSettled(handle), HANDSHAKE);
    if (!connected) native.stopContext(handle);
    return this.#connected();
  }

  async connectInBackground(name: string): Promise<number> {
    const status = this.#begin(name);
    if (status < 0) return status;
    const { handle } = this.#active;
    this.#connecting = true;
    if (!(await this.#until(() => isSettled(handle), HANDSHAKE))) native.stopContext(handle);
    this.#connecting = false;
    if (!this.#destroyed) return this.#connected();
    await this.#endInBackground();
    this.#close();
    return -NOT_CONNECTED;
  }

  disconnect(peer: number): number {
    if (!this.#peers.leave(peer)) return -NOT_CONNECTED;
    const engine = this.#running;
    const { handle } = this.#active;
    engine.block(() => this.#inFlight(peer) === 0, FAREWELL);
    if (!this.#server) return this.#end((done) => engine.block(done, FAREWELL));
    let status = 0;
    engine.block(() => (status = native.comchDisconnect(handle, peer)) !== -AGAIN, FAREWELL);
    return this.#disconnected(peer, status);
  }

  async disconnectInBackground(peer: number): Promise<number> {
    if (!this.#peers.leave(peer)) return -NOT_CONNECTED;
    const { handle } = this.#active;
    await this.#until(() => this.#inFlight(peer) === 0, FAREWELL);
    if (!this.#server) return this.#endInBackground();
    let status = 0;
    await this.#until(() => (status = native.comchDisconnect(handle, peer)) !== -AGAIN, FAREWELL);
    return this.#disconnected(peer, status);
  }

  sendTo(message: Uint8Array, peer: number): number {
    const context = this.#context;
    if (context === undefined) return -NOT_CONNECTED;
    const limit = this.#sizes.get(Size.SEND_QUEUE) ?? QUEUE;
    let status = native.comchSend(context.handle, peer, message, 0, limit);
    if (status === -AGAIN || status === -NO_MEMORY) {
      // Both end when tasks complete.
      this.#engine?.progress(AT_ONCE, true);
      status = native.comchSend(context.handle, peer, message, 0, limit);
    }
    if (status === 0) this.#attend();
    if (status === -NO_MEMORY) return -AGAIN;
    if (status === -NOT_CONNECTED || status === -BAD_STATE) {
      return this.#peers.isPresent(peer) ? -CONNECTION_RESET : -NOT_CONNECTED;
    }
    return status;
  }

  recvFrom(buffer: Uint8Array, from: Uint32Array): number {
    const context = this.#context;
    if (context === undefined) return -NOT_CONNECTED;
    for (let progressed = false; ;) {
      const kind = native.takeEvent(context.handle, this.#record, buffer);
      if (kind < 0) return kind;
      if (kind === EventKind.NONE) {
        from[0] = 0;
        if (!progressed) {
          this.#engine?.progress(AT_ONCE);
          progressed = true;
          continue;
        }
        const failed = this.#peers.takeFailed();
        if (failed === 0) return this.#server || this.#peers.any ? -AGAIN : -NOT_CONNECTED;
        from[0] = failed;
        if (this.#peers.lose(failed)) return -CONNECTION_RESET;
        continue;
      }
      this.#engine?.resume();
      const [number = 0, status = 0, , , length = 0] = this.#record;
      from[0] = number;
      if (kind === EventKind.CONNECTED) {
        this.#peers.announce(number);
      } else if (!this.#peers.isPresent(number)) {
        // Of a peer that the program has disconnected.
        if (kind >= EventKind.TOO_LONG) native.takeEvent(context.handle, this.#record, new Uint8Array(length));
      } else if (kind === EventKind.MESSAGE) {
        return length;
      } else if (kind === EventKind.TOO_LONG + EventKind.MESSAGE) {
        return -INVALID_VALUE;
      } else if (kind === EventKind.DISCONNECTED) {
        if (this.#peers.lose(number)) return -CONNECTION_RESET;
      } else if (kind === EventKind.SENT && status !== DocaStatus.SUCCESS) {
        // The library tells of failures before messages that have arrived: the loss comes behind those.
        this.#peers.fail(number);
        progressed = false;
      }
    }
  }

  updateInfo(peer: number): number {
    const context = this.#context;
    if (context === undefined || !this.#peers.isPresent(peer)) return -NOT_CONNECTED;
    // Who asks again and again waits for what is in flight.
    this.#engine?.progress(AT_ONCE, true);
    const status = native.comchUpdateInfo(context.handle, peer);
    native.comchCounters(context.handle, peer, this.#peers.counters(peer));
    return status === -NOT_CONNECTED ? -CONNECTION_ABORTED : status;
  }
  statistics(peer: number, out: BigUint64Array): number {
    if (!this.#peers.isPresent(peer)) return -NOT_CONNECTED;
    out.set(this.#peers.counters(peer));
    return 0;
  }
  getUserData(peer: number): bigint | number {
    return this.#peers.userData(peer) ?? -NOT_CONNECTED;
  }
  setUserData(peer: number, value: bigint): number {
    return this.#peers.setUserData(peer, value) ? 0 : -NOT_CONNECTED;
  }

  /** Makes progress. The list is the library's. */
  readonly updateService = (): number => {
    if (!this.#server) return -NOT_SUPPORTED;
    this.#engine?.progress();
    return 0;
  };
  peerList(): number[] {
    if (this.#context === undefined) return [];
    const { handle } = this.#context;
    const numbers = new Uint32Array(native.comchConnections(handle, new Uint32Array(0)));
    native.comchConnections(handle, numbers);
    return [...numbers].sort((a, b) => a - b).filter((number) => this.#peers.add(number));
  }
  /** Comch accepts by itself. */
  pendingConnections(): number {
    return 0;
  }

  events(channel: number): EventSource {
    const source = new Source(() => this.#engine, channel === Channel.SEND);
    this.#sources.push(source);
    return source;
  }

  destroy(): number {
    const engine = this.#engine;
    if (engine === undefined) return 0;
    this.#destroyed = true;
    if (this.#connecting) {
      // The call that connects frees everything at its end.
      if (this.#context !== undefined) native.stopContext(this.#context.handle);
      return 0;
    }
    const wait = (done: () => boolean) => engine.block(done, FAREWELL);
    if (this.#context !== undefined) {
      wait(() => this.#drained());
      this.#end(wait);
    }
    this.#close();
    return 0;
  }
  async destroyInBackground(): Promise<number> {
    if (this.#context !== undefined) {
      await this.#until(() => this.#drained(), FAREWELL);
      await this.#endInBackground();
    }
    this.#close();
    return 0;
  }

  onEvents(): void {
    for (const source of [...this.#sources]) source.call();
  }

  /** Messages leave, and their tasks complete, as the engine makes progress, also where the program waits for nothing. */
  #attend(): void {
    this.#attention ??= setTimeout(() => {
      this.#attention = undefined;
      const context = this.#context;
      if (context === undefined) return;
      this.#engine?.progress(undefined, true);
      if (native.comchInFlight(context.handle) <= 0) return;
      this.#attendant.watch(() => {
        this.#attend();
      });
      this.#attendant.arm();
      this.#attendant.rest();
    }, ATTENTION).unref();
  }

  /** The context, of calls that make no sense without one. */
  get #active(): CreatedContext {
    if (this.#context === undefined) throw new DocaError(NOT_CONNECTED, this.syscall('connect'));
    return this.#context;
  }
  get #running(): Engine {
    if (this.#engine === undefined) throw new DocaError(NOT_CONNECTED, 'doca_pe_progress');
    return this.#engine;
  }

  #capability(which: number): number {
    return this.#device === undefined ? 0 : native.comchCapability(this.#device, which);
  }
  #isTooLong(name: string): boolean {
    return Buffer.byteLength(name) >= this.maxNameLength();
  }

  /** Events of a full receive queue from several peers, before the engine stops. */
  #makeEngine(): Engine {
    const queue = this.#sizes.get(Size.RECV_QUEUE) ?? QUEUE;
    const backlog = Math.min(2 ** 30, Math.max(2 ** 20, 4 * queue * (this.size(Size.MESSAGE) + 32)));
    return (this.#engine ??= new Engine(this.#library, backlog));
  }

  #begin(name: string): number {
    if (this.#context !== undefined) return -NOT_PERMITTED;
    if (this.#device === undefined) return -BAD_STATE;
    if (native.comchCapability(this.#device, ComchCapability.CLIENT) < 0) return -NOT_SUPPORTED;
    if (this.#isTooLong(name)) return -CONNECTION_ABORTED;
    const { handle: engine } = this.#makeEngine();
    return this.#start(native.createClient(engine, this.#device, name), false);
  }

  #start(created: CreatedContext | number, server: boolean): number {
    if (typeof created === 'number') return created;
    const { handle, id } = created;
    const message = this.#sizes.get(Size.MESSAGE);
    const queue = this.#sizes.get(Size.RECV_QUEUE) ?? QUEUE;
    const most = this.#capability(ComchCapability.SEND_TASKS);
    const wanted = Math.max(this.#sizes.get(Size.SEND_QUEUE) ?? QUEUE, server ? SERVER_TASKS : 0);
    let status = message === undefined ? 0 : native.setComchSize(handle, ComchSize.MESSAGE, message);
    if (status >= 0) status = native.setComchSize(handle, ComchSize.RECV_QUEUE, queue);
    if (status >= 0)
      status = native.setComchSize(handle, ComchSize.SEND_TASKS, most > 0 ? Math.min(most, wanted) : wanted);
    if (status >= 0) status = native.startContext(handle);
    if (status < 0 && status !== -DocaStatus.IN_PROGRESS) {
      native.destroyContext(handle);
      return status;
    }
    this.#server = server;
    this.#stopped = false;
    this.#context = created;
    this.#running.add(id, this);
    return 0;
  }

  /** The result of a client's start: the number of its connection. */
  #connected(): number {
    const { handle } = this.#active;
    const [number = 0] = native.contextState(handle) === ContextState.RUNNING ? this.#numbers(handle) : [];
    if (number !== 0) {
      this.#peers.add(number);
      return number;
    }
    this.#end(() => isIdle(handle));
    return -CONNECTION_ABORTED;
  }
  #numbers(handle: ContextHandle): Uint32Array {
    const numbers = new Uint32Array(1);
    native.comchConnections(handle, numbers);
    return numbers;
  }

  /** Messages to that peer that have not completed. */
  #inFlight(peer: number): number {
    const handle = this.#context?.handle;
    if (handle === undefined) return 0;
    return native.comchUpdateInfo(handle, peer) < 0 || native.comchCounters(handle, peer, this.#peers.scratch) < 0
      ? 0
      : Number(this.#peers.scratch[4]);
  }
  #drained(): boolean {
    return this.#peers.numbers().every((number) => this.#inFlight(number) === 0);
  }

  #disconnected(peer: number, status: number): number {
    this.#peers.remove(peer);
    if (this.#context !== undefined) native.comchForget(this.#context.handle, peer);
    // Gone already: that is what the caller wants.
    return status === -NOT_CONNECTED ? 0 : status;
  }

  /** Stops the context and destroys it when it is idle. One that does not become idle is left to the addon. */
  #end(wait: (done: () => boolean) => boolean): number {
    if (this.#context === undefined) return 0;
    const { handle, id } = this.#context;
    this.#stop(handle);
    wait(() => isIdle(handle));
    return this.#ended(handle, id);
  }
  async #endInBackground(): Promise<number> {
    if (this.#context === undefined) return 0;
    const { handle, id } = this.#context;
    this.#stop(handle);
    await this.#until(() => isIdle(handle), FAREWELL);
    return this.#ended(handle, id);
  }
  #stop(handle: ContextHandle): void {
    if (!this.#stopped && !isIdle(handle)) {
      if (this.#server) for (const number of this.#peers.numbers()) native.comchDisconnect(handle, number);
      native.stopContext(handle);
    }
    this.#stopped = true;
  }
  #ended(handle: ContextHandle, id: number): number {
    const status = native.destroyContext(handle);
    if (status === -IN_USE) native.abandonContext(handle);
    this.#engine?.remove(id);
    this.#context = undefined;
    this.#peers.clear();
    return 0;
  }

  /** Resolves as soon as `done` says so, or after so many milliseconds. */
  async #until(done: () => boolean, milliseconds: number): Promise<boolean> {
    const engine = this.#engine;
    if (engine === undefined) return done();
    const source = new Source(() => engine, true);
    const end = performance.now() + milliseconds;
    this.#sources.push(source);
    try {
      for (;;) {
        do engine.progress(undefined, true);
        while (!done() && engine.progressOthers());
        if (done()) return true;
        const left = end - performance.now();
        if (left <= 0) return false;
        await source.next(Math.min(left, 10));
      }
    } finally {
      source.disarm();
      this.#sources.splice(this.#sources.indexOf(source), 1);
    }
  }

  #close(): void {
    clearTimeout(this.#attention);
    for (const source of this.#sources) source.disarm();
    this.#engine?.close();
    this.#engine = undefined;
  }
}

function powerOfTwo(size: number): number {
  return Math.max(LEAST_QUEUE, 2 ** Math.ceil(Math.log2(size)));
}
