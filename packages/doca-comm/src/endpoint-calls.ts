import { EventEmitter } from 'node:events';
import { inspect, type InspectOptions } from 'node:util';
import {
  bytes,
  device as deviceOf,
  integer,
  object,
  representor as representorOf,
  serviceName,
  typeError,
} from './arguments.js';
import type { Device, Representor } from './device.js';
import { checked, DocaError, DocaStatus } from './errors.js';
import { connectHint, listenHint, receiveHints } from './hints.js';
import { anyLibrary, type Library } from './libraries.js';
import { native, Size, type EndpointHandle } from './native.js';
import { PeerAddr } from './peer-addr.js';

/** The properties of an endpoint, which are set before `listen` or `connect`. */
export interface EndpointOptions {
  /** The device that it goes through; needed by `listen` and `connect`. */
  device?: Device;
  /** Of a service: for which of the host's functions. */
  deviceRep?: Representor;
  /** Bytes. A minimum: read back what it became. */
  maxMsgSize?: number;
  /** Messages. Rounded up to a power of two. */
  sendQueueSize?: number;
  /** Messages. Rounded up to a power of two. */
  recvQueueSize?: number;
}

/** A message and whom it came from. */
export interface Received {
  /** Who sent it. */
  peer: PeerAddr;
  /** The message. */
  data: Uint8Array;
}

interface EndpointEvents {
  /** A client has sent its first message, or was accepted: `update()` tells of that. */
  peer: [PeerAddr];
  /** A peer is gone. It was disconnected, unless it is a client's only one. */
  lost: [PeerAddr];
}

const U16 = 0xffff;

/** The properties of an endpoint and the calls as C has them; `Endpoint` adds promises, iteration and events. */
export abstract class EndpointCalls extends EventEmitter<EndpointEvents> implements Disposable {
  #created: { handle: EndpointHandle; library: Library } | undefined;
  #device: Device | undefined;
  #deviceRep: Representor | undefined;
  #role: 'none' | 'service' | 'client' | 'closed' = 'none';
  readonly #peers = new Map<number, PeerAddr>();
  #peer: PeerAddr | undefined;
  #slab = new Uint8Array(0);
  readonly #from = new Uint32Array(1);

  /** `doca_comm_channel_ep_create`, and the setters of what is given. */
  constructor(options: EndpointOptions = {}) {
    super();
    const known = ['device', 'deviceRep', 'maxMsgSize', 'sendQueueSize', 'recvQueueSize'] as const;
    Object.assign(this, object(options, 'options', known));
  }

  /** `doca_comm_channel_ep_get_device`, `_set_device`: the device that it goes through. */
  get device(): Device | undefined {
    return this.#device;
  }
  /** Before `listen` or `connect`. @throws DocaError BAD_STATE afterwards */
  set device(device: Device | undefined) {
    const { library, handle } = deviceOf(device);
    checked(native.setDevice(this.use('set_device', library), handle), 'doca_comm_channel_ep_set_device');
    this.#device = device;
  }

  /** `doca_comm_channel_ep_get_device_rep`, `_set_device_rep`: of a service, the representor of the host's function. */
  get deviceRep(): Representor | undefined {
    return this.#deviceRep;
  }
  /** Before `listen` or `connect`. @throws DocaError BAD_STATE afterwards */
  set deviceRep(representor: Representor | undefined) {
    const { device, handle } = representorOf(representor, 'deviceRep');
    const endpoint = this.use('set_device_rep', device.library);
    checked(native.setRepresentor(endpoint, handle), 'doca_comm_channel_ep_set_device_rep');
    this.#deviceRep = representor;
  }

  /** The longest message, bytes. */
  get maxMsgSize(): number {
    return this.#size(Size.MESSAGE, 'max_msg_size');
  }
  /** A minimum: read back what it became. @throws DocaError BAD_STATE after `listen` or `connect`, INVALID_VALUE */
  set maxMsgSize(size: number) {
    this.#setSize(Size.MESSAGE, 'max_msg_size', 'maxMsgSize', size);
  }

  /** Messages that can be on their way to one peer. */
  get sendQueueSize(): number {
    return this.#size(Size.SEND_QUEUE, 'send_queue_size');
  }
  /** A minimum: read back what it became. @throws DocaError BAD_STATE after `listen` or `connect`, INVALID_VALUE */
  set sendQueueSize(size: number) {
    this.#setSize(Size.SEND_QUEUE, 'send_queue_size', 'sendQueueSize', size);
  }

  /** Messages from one peer that can wait to be received. */
  get recvQueueSize(): number {
    return this.#size(Size.RECV_QUEUE, 'recv_queue_size');
  }
  /** A minimum: read back what it became. @throws DocaError BAD_STATE after `listen` or `connect`, INVALID_VALUE */
  set recvQueueSize(size: number) {
    this.#setSize(Size.RECV_QUEUE, 'recv_queue_size', 'recvQueueSize', size);
  }

  /** True after `close()`. */
  get closed(): boolean {
    return this.#role === 'closed';
  }

  /** What `util.inspect` and `console.log` show: its role, its device and its peers. */
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

  /** The peers that are known and connected. */
  get peers(): PeerAddr[] {
    return [...this.#peers.values()];
  }

  /**
   * `doca_comm_channel_ep_listen`: from now on clients of the representor's function find the service. They are
   * accepted while it receives.
   *
   * @throws DocaError BAD_STATE without device or representor, NOT_SUPPORTED on a host, NOT_PERMITTED if it is active
   * already, CONNECTION_ABORTED if there is a service of that name, or the name is too long.
   */
  listen(name: string): void {
    const status = native.listen(this.use('listen'), serviceName(name));
    if (status !== 0) checked(status, 'doca_comm_channel_ep_listen', listenHint(name, this.#maxNameLength())[-status]);
    this.#start('service');
  }

  /**
   * `doca_comm_channel_ep_connect`. The peer may still be in the handshake: `send()` waits for its end by itself,
   * `peer.established()` does nothing else.
   *
   * @throws DocaError CONNECTION_ABORTED if no such service listens, BAD_STATE without device, NOT_SUPPORTED on a DPU,
   * NOT_PERMITTED if it is connected already.
   */
  connect(name: string): PeerAddr {
    const number = native.connect(this.use('connect'), serviceName(name));
    if (number < 0) checked(number, 'doca_comm_channel_ep_connect', connectHint(name, this.#maxNameLength())[-number]);
    this.#start('client');
    this.#peer = this.#peerOf(number);
    return this.#peer;
  }

  /**
   * `doca_comm_channel_ep_sendto`. False if the queue is full ("again").
   *
   * @throws DocaError CONNECTION_RESET if the peer is gone, NOT_CONNECTED before the handshake's end, INVALID_VALUE if
   * the message is longer than both ends take.
   */
  sendTo(message: Uint8Array, peer: PeerAddr): boolean {
    const status = -native.sendTo(this.use('sendto'), bytes(message, 'message'), this.#numberOf(peer));
    if (status === 0) return true;
    if (status === DocaStatus.AGAIN) return false;
    const hint =
      status === DocaStatus.INVALID_VALUE
        ? `the message has ${message.length} bytes; the maximum is ${this.maxMsgSize}, or less on the other side`
        : undefined;
    throw new DocaError(status, 'doca_comm_channel_ep_sendto', hint);
  }

  /**
   * `doca_comm_channel_ep_recvfrom`: a message and whose it is; undefined if there is none ("again"). Into `buffer`, if
   * one of at least `maxMsgSize` bytes is given; `data` is then a part of it.
   *
   * @throws DocaError CONNECTION_RESET if a peer is gone; `error.peer` is which. NOT_CONNECTED before listen or connect.
   */
  recvFrom(buffer?: Uint8Array): Received | undefined {
    const handle = this.use('recvfrom');
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
        ? Object.assign(error, { peer: this.#peerOf(number) })
        : error;
    }
    return {
      peer: this.#peerOf(number),
      data: buffer === undefined ? target.slice(0, result) : target.subarray(0, result),
    };
  }

  /**
   * `doca_comm_channel_ep_disconnect`: frees what belongs to the peer, which is told. What was sent before still arrives,
   * if the peer is alive. Blocks, about a round trip, and at most 1.5 seconds.
   *
   * @throws DocaError NOT_CONNECTED for a peer that is gone or of another endpoint
   */
  disconnect(peer: PeerAddr): void {
    const handle = this.use('disconnect');
    const number = this.#numberOf(peer);
    if (number === 0) checked(-DocaStatus.NOT_CONNECTED, 'doca_comm_channel_ep_disconnect');
    const status = native.disconnect(handle, number);
    this.#peers.delete(number);
    peer.gone();
    if (this.#peer === peer) this.#peer = undefined;
    checked(status, 'doca_comm_channel_ep_disconnect');
  }

  /**
   * `doca_comm_channel_ep_update_service_state_info`, and what it tells: the connected clients, and how many wait for
   * being accepted. Undefined for a library of DOCA 1.5, that has no such function.
   *
   * @throws DocaError CONNECTION_RESET if the service is dead (close it), NOT_SUPPORTED on a client.
   */
  update():
    | {
        /** The connected clients. */
        peers: PeerAddr[];
        /** Clients that wait for being accepted, which receiving does. */
        pendingConnections: number;
      }
    | undefined {
    const handle = this.use('update_service_state_info');
    if (this.#created?.library.services !== true) return undefined;
    const status = -native.updateService(handle);
    if (status !== DocaStatus.AGAIN) checked(-status, 'doca_comm_channel_ep_update_service_state_info');
    const numbers = checked<number[]>(native.peerList(handle), 'doca_comm_channel_ep_get_peer_addr_list');
    const pendingConnections = native.pendingConnections(handle);
    checked(pendingConnections, 'doca_comm_channel_ep_get_pending_connections');
    return { peers: numbers.map((number) => this.#peerOf(number)), pendingConnections };
  }

  /**
   * `doca_comm_channel_ep_destroy`: disconnects every peer and frees everything, the event channels too. Closing twice
   * does nothing.
   */
  close(): void {
    if (this.#role === 'closed') return;
    this.#role = 'closed';
    this.onClose();
    for (const peer of this.#peers.values()) peer.gone();
    this.#peers.clear();
    if (this.#created !== undefined) {
      checked(native.destroyEndpoint(this.#created.handle), 'doca_comm_channel_ep_destroy');
    }
  }

  /** `using` closes it at the end of its block. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** The peer of a client; of a service there is none. */
  protected get onlyPeer(): PeerAddr | undefined {
    return this.#peer;
  }

  protected get isService(): boolean {
    return this.#role === 'service';
  }

  /** What waits is ended before the endpoint goes. */
  protected abstract onClose(): void;

  /** The native endpoint, made at first use: only then it is known which library it is of. */
  protected use(name: string, library?: Library): EndpointHandle {
    const syscall = `doca_comm_channel_ep_${name}`;
    if (this.#role === 'closed') throw new DocaError(DocaStatus.NOT_CONNECTED, syscall, 'the endpoint is closed');
    if (this.#created === undefined) {
      const chosen = library ?? anyLibrary();
      const handle = native.createEndpoint(chosen.handle);
      this.#created = { handle: checked<EndpointHandle>(handle, 'doca_comm_channel_ep_create'), library: chosen };
    } else if (library !== undefined && library !== this.#created.library) {
      throw new DocaError(
        DocaStatus.INVALID_VALUE,
        syscall,
        `the endpoint is one of the ${this.#created.library.kind} libraries, the device of the ${library.kind} ones`,
      );
    }
    return this.#created.handle;
  }

  #maxNameLength(): number {
    return this.#created === undefined ? 0 : native.maxServiceNameLen(this.#created.library.handle);
  }

  #start(role: 'service' | 'client'): void {
    this.#role = role;
    this.#slab = new Uint8Array(this.maxMsgSize);
  }

  #numberOf(peer: PeerAddr): number {
    if (!(peer instanceof PeerAddr)) throw typeError('peer', 'a PeerAddr of this endpoint', peer);
    // A number that is not known is NOT_CONNECTED.
    return peer.endpoint === this && peer.connected ? peer.number : 0;
  }

  #peerOf(number: number): PeerAddr {
    let peer = this.#peers.get(number);
    if (peer === undefined) {
      peer = new PeerAddr(this, this.use('recvfrom'), number);
      this.#peers.set(number, peer);
      if (this.#role === 'service') this.emit('peer', peer);
    }
    return peer;
  }

  #size(which: number, name: string): number {
    return checked(native.getSize(this.use(`get_${name}`), which), `doca_comm_channel_ep_get_${name}`);
  }

  #setSize(which: number, name: string, path: string, size: number): void {
    integer(size, path, 0, U16);
    const hint = `the device's maximum is less than ${path} ${size}, or the endpoint is active already`;
    checked(native.setSize(this.use(`set_${name}`), which, size), `doca_comm_channel_ep_set_${name}`, hint);
  }
}
