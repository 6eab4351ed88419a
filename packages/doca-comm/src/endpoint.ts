import { EventEmitter } from 'node:events';
import { inspect, type InspectOptions } from 'node:util';
import { validate } from '@verbs/core/provider';
import { bytes, device as deviceOf, representor as representorOf, serviceName, signalOf } from './arguments.js';
import type { Device, Representor } from './device.js';
import type { EndpointEvents, EndpointOptions, Received, WaitOptions } from './endpoint-types.js';
import { checked, DocaError, DocaStatus } from './errors.js';
import { connectHint, listenHint, receiveHints } from './hints.js';
import { native, Size } from './native.js';
import { NativeEndpoint } from './native-endpoint.js';
import { pauseFor, type PeerAddr } from './peer-addr.js';
import { checkPeer, Peers } from './peers.js';
import { PendingReceives } from './pending-receives.js';
import { PendingSends } from './pending-sends.js';
import { Turn, yieldToLoop } from './turn.js';

/**
 * One end of a channel (`doca_comm_channel_ep_t`): a service on the DPU with many clients, or a client on the host.
 *
 * @example
 * using dpu = openDevice('doca_dpu0');
 * using rep = openRepresentor(dpu, '0000:3b:00.0');
 * using service = new Endpoint({ device: dpu, deviceRep: rep });
 * service.listen('echo');
 * for await (const { peer, data } of service) await service.send(data, peer);
 */
export class Endpoint extends EventEmitter<EndpointEvents> implements AsyncIterable<Received>, Disposable {
  readonly #native = new NativeEndpoint();
  readonly #peers: Peers;
  readonly #sends = new PendingSends(() => this.#native.use('get_event_channel'));
  readonly #receives = new PendingReceives(() => this.#native.use('get_event_channel'));
  #role: 'none' | 'service' | 'client' | 'closed' = 'none';
  #device: Device | undefined;
  #deviceRep: Representor | undefined;
  /** A client's only peer. */
  #peer: PeerAddr | undefined;
  #slab = new Uint8Array(0);
  readonly #from = new Uint32Array(1);
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
        if (this.#role === 'service') this.emit('peer', peer);
      },
    );
    const known = ['device', 'deviceRep', 'maxMsgSize', 'sendQueueSize', 'recvQueueSize'] as const;
    Object.assign(this, validate.object(options, 'options', known));
  }

  /** `doca_comm_channel_ep_get_device`, `_set_device`: the device that it goes through. */
  get device(): Device | undefined {
    return this.#device;
  }
  /** Before `listen` or `connect`. @throws DocaError BAD_STATE afterwards */
  set device(device: Device | undefined) {
    const { library, handle } = deviceOf(device);
    checked(native.setDevice(this.#native.use('set_device', library), handle), 'doca_comm_channel_ep_set_device');
    this.#device = device;
  }

  /** `doca_comm_channel_ep_get_device_rep`, `_set_device_rep`: of a service, the representor of the host's function. */
  get deviceRep(): Representor | undefined {
    return this.#deviceRep;
  }
  /** Before `listen` or `connect`. @throws DocaError BAD_STATE afterwards */
  set deviceRep(representor: Representor | undefined) {
    const { device, handle } = representorOf(representor, 'deviceRep');
    const endpoint = this.#native.use('set_device_rep', device.library);
    checked(native.setRepresentor(endpoint, handle), 'doca_comm_channel_ep_set_device_rep');
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
    const syscall = 'doca_comm_channel_ep_listen';
    const status = native.listen(this.#native.use('listen'), serviceName(name));
    if (status !== 0) checked(status, syscall, listenHint(name, this.#native.maxNameLength())[-status]);
    this.#start('service');
  }

  /**
   * `doca_comm_channel_ep_connect`. The handshake may still go on when it returns: `send()` waits for its end;
   * `peer.established()` waits for nothing else.
   *
   * @throws DocaError CONNECTION_ABORTED if no such service listens, BAD_STATE without device, NOT_SUPPORTED on a DPU,
   * NOT_PERMITTED if it is connected already.
   */
  connect(name: string): PeerAddr {
    const syscall = 'doca_comm_channel_ep_connect';
    const number = native.connect(this.#native.use('connect'), serviceName(name));
    if (number < 0) checked(number, syscall, connectHint(name, this.#native.maxNameLength())[-number]);
    this.#start('client');
    this.#peer = this.#peers.of(number);
    return this.#peer;
  }

  /**
   * `doca_comm_channel_ep_sendto`. False if the queue is full ("again").
   *
   * @throws DocaError CONNECTION_RESET if the peer is gone, NOT_CONNECTED before the handshake's end, INVALID_VALUE if
   * the message is longer than both ends take.
   */
  sendTo(message: Uint8Array, peer: PeerAddr): boolean {
    const handle = this.#native.use('sendto');
    const status = -native.sendTo(handle, bytes(message, 'message'), this.#peers.numberOf(peer));
    if (status === 0) return true;
    if (status === DocaStatus.AGAIN) return false;
    const hint =
      status === DocaStatus.INVALID_VALUE
        ? `the message has ${message.length} bytes; the maximum is ${this.maxMsgSize}, or less on the other side`
        : undefined;
    throw new DocaError(status, 'doca_comm_channel_ep_sendto', hint);
  }

  /**
   * `doca_comm_channel_ep_recvfrom`: a message and its sender; undefined if there is none ("again"). With `buffer`, of at
   * least `maxMsgSize` bytes, `data` is a part of it.
   *
   * @throws DocaError CONNECTION_RESET if a peer is gone; `error.peer` is that peer. NOT_CONNECTED before listen or
   * connect.
   */
  recvFrom(buffer?: Uint8Array): Received | undefined {
    const handle = this.#native.use('recvfrom');
    const target = buffer === undefined ? this.#slab : bytes(buffer, 'buffer');
    if (buffer !== undefined && buffer.length < this.#slab.length) {
      throw new RangeError(
        `buffer must have at least ${this.#slab.length} bytes (maxMsgSize); it has ${buffer.length}`,
      );
    }
    const result = native.recvFrom(handle, target, this.#from);
    if (result === -DocaStatus.AGAIN) return undefined;
    const number = this.#from[0] ?? 0;
    if (result < 0) {
      const error = new DocaError(-result, 'doca_comm_channel_ep_recvfrom', receiveHints[-result]);
      throw result === -DocaStatus.CONNECTION_RESET && number !== 0
        ? Object.assign(error, { peer: this.#peers.of(number) })
        : error;
    }
    return {
      peer: this.#peers.of(number),
      data: buffer === undefined ? target.slice(0, result) : target.subarray(0, result),
    };
  }

  /**
   * `doca_comm_channel_ep_disconnect`: tells the peer, and frees its resources. Messages sent before still arrive, if the
   * peer is alive. Blocks, about a round trip, and at most 1.5 seconds if the peer is dead or stopped.
   *
   * @throws DocaError NOT_CONNECTED for a peer that is gone or of another endpoint
   */
  disconnect(peer: PeerAddr): void {
    const syscall = 'doca_comm_channel_ep_disconnect';
    const handle = this.#native.use('disconnect');
    const number = this.#peers.numberOf(peer);
    if (number === 0) checked(-DocaStatus.NOT_CONNECTED, syscall);
    const status = native.disconnect(handle, number);
    this.#peers.remove(peer);
    if (this.#peer === peer) this.#peer = undefined;
    checked(status, syscall);
    const error = new DocaError(DocaStatus.NOT_CONNECTED, 'doca_comm_channel_ep_sendto', 'the peer was disconnected');
    this.#sends.fail(peer, error);
    // A client has no other peer to wait for.
    if (this.#role !== 'service') this.#receives.retry();
  }

  /**
   * `doca_comm_channel_ep_update_service_state_info`, and the getters of its results: the connected clients, and the
   * number of clients that are not accepted yet. Undefined for a library of DOCA 1.5, which has no such function.
   *
   * @throws DocaError CONNECTION_RESET if the service is dead (close it), NOT_SUPPORTED on a client.
   */
  update():
    | {
        /** The connected clients. */
        peers: PeerAddr[];
        /** Clients that are not accepted yet: receiving accepts them. */
        pendingConnections: number;
      }
    | undefined {
    const handle = this.#native.use('update_service_state_info');
    if (this.#native.library?.services !== true) return undefined;
    const status = -native.updateService(handle);
    if (status !== DocaStatus.AGAIN) checked(-status, 'doca_comm_channel_ep_update_service_state_info');
    const numbers = checked<number[]>(native.peerList(handle), 'doca_comm_channel_ep_get_peer_addr_list');
    const pendingConnections = native.pendingConnections(handle);
    checked(pendingConnections, 'doca_comm_channel_ep_get_pending_connections');
    return { peers: numbers.map((number) => this.#peers.of(number)), pendingConnections };
  }

  /**
   * `doca_comm_channel_ep_destroy`: disconnects every peer and frees everything, the event channels too. Closing twice
   * does nothing.
   */
  close(): void {
    if (this.#role === 'closed') return;
    this.#role = 'closed';
    this.#native.close();
    const error = new DocaError(DocaStatus.NOT_CONNECTED, 'doca_comm_channel_ep_destroy', 'the endpoint was closed');
    this.#receives.close(error);
    this.#sends.close(error);
    this.#peers.clear();
    this.#native.destroy();
  }

  /** `using` closes it at the end of its block. */
  [Symbol.dispose](): void {
    this.close();
  }

  /**
   * Sends; resolves when the message is in the queue. Messages to one peer go in the order of the calls, and a peer with
   * a full queue holds up no other. Waits for the end of the handshake. `message` must not be changed before it resolves.
   *
   * @throws DocaError as `sendTo`; `signal.reason`.
   */
  async send(message: Uint8Array, peer: PeerAddr | undefined = this.#peer, options?: WaitOptions): Promise<void> {
    if (peer === undefined) {
      throw new DocaError(DocaStatus.NOT_CONNECTED, 'doca_comm_channel_ep_sendto', 'connect, or name the peer');
    }
    checkPeer(peer);
    const signal = signalOf(options);
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
  async receive(options?: WaitOptions): Promise<Received> {
    const signal = signalOf(options);
    const found = this.#receives.any ? undefined : this.recvFrom();
    if (found !== undefined) {
      if (this.#receiveTurn.isOver()) await yieldToLoop();
      return found;
    }
    return new Promise((resolve, reject) => {
      this.#receives.add(() => this.recvFrom(), { resolve, reject, signal });
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
        yield await this.receive();
      } catch (error) {
        if (this.closed || (peer !== undefined && this.#peer !== peer)) return;
        const lost = lostPeer(error);
        if (lost === undefined || this.#role !== 'service') throw error;
        this.disconnect(lost);
        this.emit('lost', lost);
      }
    }
  }

  /** Resolves when the peer has acknowledged every message: before a disconnect, for instance. */
  async drained(peer: PeerAddr | undefined = this.#peer, options?: WaitOptions): Promise<void> {
    if (peer !== undefined) checkPeer(peer);
    for (let pause = 0; peer !== undefined; pause = Math.min(pause + 1, 10)) {
      const signal = signalOf(options);
      const state = peer.updateInfo();
      if (state === 'aborted')
        throw new DocaError(DocaStatus.CONNECTION_RESET, 'doca_comm_channel_peer_addr_update_info');
      if (!this.#sends.has(peer) && peer.counters().sendInFlightMessages === 0n) return;
      await pauseFor(pause, signal);
    }
  }

  #start(role: 'service' | 'client'): void {
    this.#role = role;
    this.#slab = new Uint8Array(this.maxMsgSize);
  }
}

/** The peer of a CONNECTION_RESET. */
function lostPeer(error: unknown): PeerAddr | undefined {
  if (!(error instanceof DocaError) || error.status !== DocaStatus.CONNECTION_RESET) return undefined;
  return (error as { peer?: PeerAddr }).peer;
}
