import { EventEmitter } from 'node:events';
import { inspect, type InspectOptions } from 'node:util';
import type { WaitOptions } from '@verbs/core';
import { DEFAULT_SPIN, uint8Array, uncaught, unlessAborted, validate } from '@verbs/core/provider';
import { liveSignalOf, serviceName } from '../base/arguments.js';
import { deviceOf, representorOf } from '../base/device.js';
import type { Device, Representor } from '../base/device.js';
import type { EndpointEvents, EndpointOptions, Received, ServiceState } from './types.js';
import { checked, DocaError, DocaStatus } from '../base/errors.js';
import { connectHint, listenHint } from './hints.js';
import { Size } from '../base/native.js';
import { NativeEndpoint } from './native-endpoint.js';
import type { PeerAddr } from './peer-addr.js';
import { checkPeer, Peers, serviceState } from './peers.js';
import { PendingReceives } from './pending-receives.js';
import { PendingSends } from './pending-sends.js';
import { lostPeer, Receiver } from './receiver.js';
import { Turn, yieldToLoop } from './turn.js';

/**
 * One end of a channel (`doca_comm_channel_ep_t`): a service on the DPU with many clients, or a client on the host.
 *
 * @example
 * using dpu = openDevice('doca_dpu0');
 * using rep = openRepresentor(dpu, '5f5f:3b:00.0');
 * using service = new Endpoint({ device: dpu, deviceRep: rep });
 * service.listen('echo');
 * for await (const { peer, data } of service) await service.send(data, peer);
 */
export class Endpoint
  extends EventEmitter<EndpointEvents>
  implements AsyncIterable<Received>, Disposable, AsyncDisposable
{
  readonly #native = new NativeEndpoint();
  readonly #peers: Peers;
  /** Microseconds. */
  readonly #spin: number;
  readonly #sends = new PendingSends((channel) => this.#native.events(channel, this.#spin));
  readonly #receives = new PendingReceives((channel) => this.#native.events(channel, this.#spin));
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;
  #role: 'none' | 'service' | 'client' | 'closed' = 'none';
  #device: Device | undefined;
  #deviceRep: Representor | undefined;
  /** A client's only peer. */
  #peer: PeerAddr | undefined;
  readonly #receiver: Receiver;
  readonly #lost = new WeakSet<PeerAddr>();
  // One for each direction: a send that nobody awaits must not make the receiver's turn look short.
  readonly #sendTurn = new Turn();
  readonly #receiveTurn = new Turn();

  /** `doca_comm_channel_ep_create`, and the setters of the properties that are given. */
  constructor(options: EndpointOptions = {}) {
    super();
    this.#peers = new Peers(
      this,
      () => this.#native.use('recvfrom'),
      (peer) => {
        if (this.#role !== 'service') return;
        tell(() => {
          this.emit('peer', peer);
        });
      },
    );
    this.#receiver = new Receiver(this.#peers);
    const known = ['device', 'deviceRep', 'maxMsgSize', 'sendQueueSize', 'recvQueueSize', 'spin'] as const;
    const { spin, ...properties } = validate.object(options, 'options', known);
    this.#spin = validate.optional(spin, 'options.spin', 10_000, DEFAULT_SPIN);
    try {
      Object.assign(this, properties);
    } catch (error) {
      // Nobody gets the endpoint, and it would hold the device.
      this.close();
      throw error;
    }
  }

  /** `doca_comm_channel_ep_get_device`, `_set_device`: the device that it goes through. */
  get device(): Device | undefined {
    return this.#device;
  }
  /** Before `listen` or `connect`. @throws DocaError BAD_STATE afterwards */
  set device(device: Device | undefined) {
    const origin = deviceOf(device);
    checked(this.#native.use('set_device', origin).setDevice(origin.handle), this.#native.syscall('set_device'));
    this.#device = device;
  }

  /** `doca_comm_channel_ep_get_device_rep`, `_set_device_rep`: of a service, the representor of the host's function. */
  get deviceRep(): Representor | undefined {
    return this.#deviceRep;
  }
  /** Before `listen` or `connect`. @throws DocaError BAD_STATE afterwards */
  set deviceRep(representor: Representor | undefined) {
    const { device, handle } = representorOf(representor, 'deviceRep');
    const end = this.#native.use('set_device_rep', device);
    checked(end.setRepresentor(handle), this.#native.syscall('set_device_rep'));
    this.#deviceRep = representor;
  }

  /** The longest message, bytes. */
  get maxMsgSize(): number {
    return this.#native.size(Size.MESSAGE, 'max_msg_size');
  }
  /** A minimum: read back what it became. @throws DocaError BAD_STATE after `listen` or `connect`, INVALID_VALUE */
  set maxMsgSize(size: number) {
    this.#native.setSize(Size.MESSAGE, 'max_msg_size', 'maxMsgSize', size);
  }

  /** Messages in flight to one peer. */
  get sendQueueSize(): number {
    return this.#native.size(Size.SEND_QUEUE, 'send_queue_size');
  }
  /** A minimum: read back what it became. @throws DocaError BAD_STATE after `listen` or `connect`, INVALID_VALUE */
  set sendQueueSize(size: number) {
    this.#native.setSize(Size.SEND_QUEUE, 'send_queue_size', 'sendQueueSize', size);
  }

  /** Messages from one peer in the receive queue. */
  get recvQueueSize(): number {
    return this.#native.size(Size.RECV_QUEUE, 'recv_queue_size');
  }
  /** A minimum: read back what it became. @throws DocaError BAD_STATE after `listen` or `connect`, INVALID_VALUE */
  set recvQueueSize(size: number) {
    this.#native.setSize(Size.RECV_QUEUE, 'recv_queue_size', 'recvQueueSize', size);
  }

  /** True after `close()`. */
  get closed(): boolean {
    return this.#role === 'closed';
  }

  /** The peers that are known and connected. */
  get peers(): PeerAddr[] {
    return this.#peers.all();
  }

  /** For `util.inspect` and `console.log`: its role, its device and the number of its peers. */
  [inspect.custom](depth: number, options: InspectOptions = {}): string {
    if (!(#role in this)) return inspect(this, { ...options, depth, customInspect: false });
    const device = this.#device?.info.ibdevName;
    const deviceRep = this.#deviceRep?.info.pciAddr;
    const known = {
      role: this.#role,
      ...(device && { device }),
      ...(deviceRep && { deviceRep }),
      peers: this.#peers.size,
    };
    return depth < 0 ? '[Endpoint]' : `Endpoint ${inspect(known, { ...options, depth })}`;
  }

  /**
   * `doca_comm_channel_ep_listen`: from now on clients of the representor's function find the service. It accepts them
   * while it receives.
   *
   * @throws DocaError BAD_STATE without device or representor, NOT_SUPPORTED on a host, NOT_PERMITTED if it is active
   * already, CONNECTION_ABORTED if there is a service of that name, or the name is too long.
   */
  listen(name: string): void {
    const status = this.#native.use('listen').listen(serviceName(name));
    if (status !== 0) checked(status, this.#native.syscall('listen'), listenHint(name, this.#native)[-status]);
    this.#start('service');
  }

  /**
   * `doca_comm_channel_ep_connect`. The handshake may still go on when it returns: `send()` waits for its end;
   * `peer.established()` waits for nothing else. Blocks until the service's first answer, and for 1.8 seconds if its
   * process is stopped: `connectAsync` does not.
   *
   * @throws DocaError CONNECTION_ABORTED if no such service listens, BAD_STATE without device, NOT_SUPPORTED on a DPU,
   * NOT_PERMITTED if it is connected already.
   */
  connect(name: string): PeerAddr {
    return this.#connected(name, this.#native.use('connect').connect(serviceName(name)));
  }

  /**
   * `connect` on a thread of libuv's pool. Until the promise is settled, other calls are CONNECTION_INPROGRESS. What the
   * signal gives up is undone in the background, and the next `connectAsync` waits for that.
   *
   * @example
   * const peer = await client.connectAsync('echo', { signal: AbortSignal.timeout(500) });
   *
   * @throws DocaError as `connect`; NOT_CONNECTED when the endpoint is closed; `signal.reason`.
   */
  async connectAsync(name: string, options?: WaitOptions): Promise<PeerAddr> {
    const given = liveSignalOf(options);
    const closing = this.#closing.signal;
    const signal = given === undefined ? closing : AbortSignal.any([closing, given]);
    const call = this.#native.connect(serviceName(name), () => signal.aborted);
    return this.#connected(name, await unlessAborted(call, signal));
  }

  /**
   * `doca_comm_channel_ep_sendto`. False if the queue is full ("again").
   *
   * @throws DocaError CONNECTION_RESET if the peer is gone, NOT_CONNECTED before the handshake's end, INVALID_VALUE if
   * the message is longer than both ends take.
   */
  sendTo(message: Uint8Array, peer: PeerAddr): boolean {
    const end = this.#native.use('sendto');
    const status = -end.sendTo(uint8Array(message, 'message'), this.#peers.numberOf(peer));
    if (status === 0) return true;
    if (status === DocaStatus.AGAIN) return false;
    const hint =
      status === DocaStatus.INVALID_VALUE
        ? `the message has ${message.length} bytes; the maximum is ${this.maxMsgSize}, or less on the other side`
        : undefined;
    throw new DocaError(status, end.syscall('sendto'), hint);
  }

  /**
   * `doca_comm_channel_ep_recvfrom`: a message and its sender; undefined if there is none ("again"). With `buffer`, of at
   * least `maxMsgSize` bytes, `data` is a part of it.
   *
   * @throws DocaError CONNECTION_RESET if a peer is gone; `error.peer` is that peer. NOT_CONNECTED before listen or
   * connect.
   */
  recvFrom(buffer?: Uint8Array): Received | undefined {
    return this.#take(buffer, true);
  }

  /**
   * `doca_comm_channel_ep_disconnect`: tells the peer, and frees its resources. Messages sent before still arrive, if the
   * peer is alive. Blocks, about a round trip, and at most 1.5 seconds if the peer is dead or stopped: `disconnectAsync`
   * does not.
   *
   * @throws DocaError NOT_CONNECTED for a peer that is gone or of another endpoint
   */
  disconnect(peer: PeerAddr): void {
    const end = this.#native.use('disconnect');
    const status = end.disconnect(this.#peers.connectedNumber(peer, end.syscall('disconnect')));
    this.#forget(peer);
    // A client has no other peer to wait for.
    if (this.#role !== 'service') this.#receives.retry();
    checked(status, end.syscall('disconnect'));
  }

  /**
   * `disconnect` on a thread of libuv's pool. For other calls the peer is gone at once; its resources are freed when the
   * promise resolves. DOCA's own library may not be called from two threads at a time: there it blocks as `disconnect`.
   *
   * @throws DocaError NOT_CONNECTED for a peer that is gone or of another endpoint
   */
  async disconnectAsync(peer: PeerAddr): Promise<void> {
    const end = this.#native.use('disconnect');
    const call = this.#native.disconnect(this.#peers.connectedNumber(peer, end.syscall('disconnect')));
    this.#peers.leave(peer, call);
    this.#forget(peer);
    const status = await call;
    if (this.#role === 'client') this.#receives.retry();
    checked(status, end.syscall('disconnect'));
  }

  /**
   * `doca_comm_channel_ep_update_service_state_info`, and the getters of its results: the connected clients, and the
   * number of clients that are not accepted yet. Undefined for a library of DOCA 1.5, which has no such function.
   *
   * @throws DocaError CONNECTION_RESET if the service is dead (close it), NOT_SUPPORTED on a client.
   */
  update(): ServiceState | undefined {
    return serviceState(this.#native.use('update_service_state_info'), this.#peers);
  }

  /**
   * `doca_comm_channel_ep_destroy`: disconnects every peer and frees everything, the event channels too. Closing twice
   * does nothing. Blocks as `disconnect`, for all peers together: `closeAsync` does not. Where a background call still
   * runs, the endpoint is freed at its end, and `closeAsync` tells when that was.
   */
  close(): void {
    if (!this.#close()) return;
    this.#native.destroy();
    this.#closed = this.#native.settled();
  }

  /**
   * `close` on a thread of libuv's pool. Resolves when everything is freed, so that the device can be closed; after
   * `close` as well.
   */
  closeAsync(): Promise<void> {
    if (this.#close()) this.#closed = this.#native.destroyAsync();
    return (this.#closed ??= Promise.resolve());
  }

  /** `using` closes it at the end of its block. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** `await using` closes it at the end of its block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.closeAsync();
  }

  /**
   * Sends; resolves when the message is in the queue. Messages to one peer go in the order of the calls, and a peer with
   * a full queue holds up no other. Waits for the end of the handshake. `message` must not be changed before it resolves.
   *
   * @throws DocaError as `sendTo`; `signal.reason`.
   */
  async send(message: Uint8Array, peer: PeerAddr | undefined = this.#peer, options?: WaitOptions): Promise<void> {
    if (peer === undefined) {
      throw new DocaError(DocaStatus.NOT_CONNECTED, this.#native.syscall('sendto'), 'connect, or name the peer');
    }
    checkPeer(peer);
    const signal = liveSignalOf(options);
    const established = this.#role === 'service' || this.#sends.isEstablished(peer);
    if (!established || this.#sends.has(peer) || !this.sendTo(message, peer)) {
      await new Promise<true>((resolve, reject) => {
        this.#sends.add(peer, established, () => this.sendTo(message, peer) || undefined, { resolve, reject, signal });
      });
      this.#sends.setEstablished(peer);
    }
    if (this.#sendTurn.isOver()) await yieldToLoop();
  }

  /**
   * The next message. A service accepts clients while it waits here.
   *
   * @throws DocaError CONNECTION_RESET with `peer` if one is gone; NOT_CONNECTED when the endpoint is closed;
   * `signal.reason`.
   */
  receive(options?: WaitOptions): Promise<Received> {
    return this.#next(options, true);
  }

  async #next(options: WaitOptions | undefined, tells: boolean): Promise<Received> {
    const signal = liveSignalOf(options);
    const found = this.#receives.any ? undefined : this.#take(undefined, tells);
    if (found !== undefined) {
      if (this.#receiveTurn.isOver()) await yieldToLoop();
      return found;
    }
    return new Promise((resolve, reject) => {
      this.#receives.add(() => this.#take(undefined, tells), { resolve, reject, signal });
    });
  }

  /**
   * Messages until the endpoint is closed, or the client disconnects. A service goes on when a client is gone: it
   * disconnects it and emits 'lost'. A client whose service is gone gets CONNECTION_RESET.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Received, void, undefined> {
    const peer = this.#peer;
    for (;;) {
      try {
        yield await this.#next(undefined, false);
      } catch (error) {
        if (this.closed || (peer !== undefined && this.#peer !== peer)) return;
        const lost = lostPeer(error);
        if (lost === undefined || this.#role !== 'service') throw error;
        // The program may have done so already, when a message to it failed.
        if (lost.connected) this.disconnect(lost);
        this.#tellLost(lost);
      }
    }
  }

  /** Resolves when the peer has acknowledged every message: before a disconnect, for instance. */
  async drained(peer: PeerAddr | undefined = this.#peer, options?: WaitOptions): Promise<void> {
    if (peer === undefined) return;
    checkPeer(peer);
    await this.#sends.drained(peer, options);
  }

  #connected(name: string, number: number): PeerAddr {
    if (number < 0)
      checked(number, this.#native.syscall('connect'), connectHint(name, this.#native.maxNameLength())[-number]);
    this.#start('client');
    this.#peer = this.#peers.of(number);
    return this.#peer;
  }

  /** `tells`: the program is told of a lost client now, not after its disconnect. */
  #take(buffer: Uint8Array | undefined, tells: boolean): Received | undefined {
    try {
      return this.#receiver.receive(this.#native.use('recvfrom'), buffer);
    } catch (error) {
      const lost = tells && this.#role === 'service' ? lostPeer(error) : undefined;
      if (lost !== undefined) this.#tellLost(lost);
      throw error;
    }
  }

  /** Once for each: until it is disconnected, receiving finds out again. */
  #tellLost(peer: PeerAddr): void {
    if (this.#lost.has(peer)) return;
    this.#lost.add(peer);
    tell(() => {
      this.emit('lost', peer);
    });
  }

  #forget(peer: PeerAddr): void {
    this.#peers.remove(peer);
    if (this.#peer === peer) this.#peer = undefined;
    const error = new DocaError(DocaStatus.NOT_CONNECTED, this.#native.syscall('sendto'), 'the peer was disconnected');
    this.#sends.fail(peer, error);
  }

  /** Everything but the C endpoint. False if it is closed already. */
  #close(): boolean {
    if (this.#role === 'closed') return false;
    this.#role = 'closed';
    this.#native.close();
    const error = new DocaError(DocaStatus.NOT_CONNECTED, this.#native.syscall('destroy'), 'the endpoint was closed');
    this.#closing.abort(error);
    this.#receives.close(error);
    this.#sends.close(error);
    this.#peers.clear();
    return true;
  }

  #start(role: 'service' | 'client'): void {
    // First what throws: the program may have closed the endpoint while a background call came to its end.
    this.#receiver.start(this.maxMsgSize);
    this.#role = role;
  }
}

/** Calls listeners of the program. An error of theirs is none of the call that tells them. */
function tell(emit: () => void): void {
  try {
    emit();
  } catch (error) {
    uncaught(error);
  }
}
