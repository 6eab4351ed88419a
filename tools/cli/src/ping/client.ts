import { setTimeout as sleep } from 'node:timers/promises';
import {
  AccessFlags,
  type Context,
  type MemoryRegion,
  type ProtectionDomain,
  SendFlags,
  WcOpcode,
  type WorkCompletion,
  WcStatus,
  WrOpcode,
} from '@verbs/core';
import { DatagramPort, type SideChannel, request, datagramAddress, delayed } from '@verbs/lib/rendezvous';
import { Endpoint, completions } from '@verbs/lib/rc';
import { Failure } from '@verbs/lib/failure';
import { type Operation, type Welcome, fillPattern, hasPattern, readWelcome } from './protocol.js';
import { Statistics, type Summary } from './statistics.js';

export interface PingOptions {
  operation: Operation;
  size: number;
  /** Undefined: until the signal is aborted. */
  count: number | undefined;
  intervalMs: number;
  timeoutMs: number;
  /** Ends the pings without an error. */
  signal: AbortSignal;
}

/** Progress reports. */
export interface PingEvents {
  onPeer(gid: string, qpNum: number): void;
  onReply(seq: number, microseconds: number): void;
}

/** The NIC's retries report a killed server. After this time the closed connection does, if no retry is under way. */
const GRACE_MS = 2000;

const DEAD_HINT = 'does its "verbs ping -s" still run?';

/** Pings the server at the other end of the side channel. */
export async function ping(
  context: Context,
  channel: SideChannel,
  options: PingOptions,
  events: PingEvents,
): Promise<Summary> {
  using pd = context.allocPd();
  using client = new Client(context, pd, channel, options);
  await client.meet(context, pd, events);
  return await client.run(events);
}

class Client implements Disposable {
  readonly #options: PingOptions;
  readonly #channel: SideChannel;
  /** Aborted some time after the server closed its connection. */
  readonly #gone: AbortSignal;
  readonly #endpoint: Endpoint;
  readonly #out: MemoryRegion;
  readonly #in: MemoryRegion;
  readonly #outBytes: Uint8Array;
  readonly #inBytes: Uint8Array;
  readonly #patience = new AbortController();
  /** Aborted by the user, by the timeout of a reply, or when the server is gone. */
  readonly #signal: AbortSignal;
  #peer: Welcome | undefined;
  /** Of the current ping: the reply has arrived; the peer's NIC has acknowledged the request. */
  #answered = false;
  #acknowledged = false;

  constructor(context: Context, pd: ProtectionDomain, channel: SideChannel, options: PingOptions) {
    this.#channel = channel;
    this.#gone = delayed(channel.gone, GRACE_MS);
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#patience.signal, this.#gone]);
    this.#endpoint = new Endpoint(context, pd, { maxSendWr: 4, maxRecvWr: 4 });
    const length = Math.max(options.size, 1);
    this.#out = pd.allocMr(length, AccessFlags.LOCAL_WRITE);
    this.#in = pd.allocMr(length, AccessFlags.LOCAL_WRITE);
    this.#outBytes = new Uint8Array(this.#out.buffer, 0, options.size);
    this.#inBytes = new Uint8Array(this.#in.buffer, 0, options.size);
  }

  async meet(context: Context, pd: ProtectionDomain, events: PingEvents): Promise<void> {
    const { operation, size, timeoutMs, signal } = this.#options;
    using datagrams = new DatagramPort(context, pd);
    this.#channel.send(datagrams.address);
    const peer = datagramAddress(await this.#channel.receive());
    const patience = AbortSignal.timeout(timeoutMs);
    try {
      const invitation = { operation, size, connection: this.#endpoint.address };
      this.#peer = readWelcome(
        await request(datagrams, peer, invitation, { signal: AbortSignal.any([signal, patience]) }),
      );
    } catch (error) {
      if (signal.aborted || !patience.aborted) throw error;
      throw new Failure(`${peer.gid} answers TCP, but no datagram within ${timeoutMs} ms`, {
        hint: 'can UDP packets to port 4791 reach it? See "verbs doctor" on both sides',
        cause: error,
      });
    }
    this.#endpoint.connect(this.#peer.connection);
    events.onPeer(this.#peer.connection.gid, this.#peer.connection.qpNum);
  }

  async run(events: PingEvents): Promise<Summary> {
    const { count = Infinity, intervalMs, signal } = this.#options;
    const statistics = new Statistics();
    for (let seq = 1; seq <= count && !signal.aborted; seq++) {
      if (seq > 1 && !(await pause(intervalMs, signal))) break;
      statistics.addSent();
      const microseconds = await this.#ping(seq);
      if (microseconds === undefined) break;
      statistics.addReceived(microseconds);
      events.onReply(seq, microseconds);
    }
    return statistics.summary();
  }

  /** One round trip, in microseconds; undefined if the user stopped it. */
  async #ping(seq: number): Promise<number | undefined> {
    const { operation, signal, timeoutMs } = this.#options;
    const timer = setTimeout(() => {
      this.#patience.abort();
    }, timeoutMs);
    const expected = operation === 'send' ? this.#prepareSend(seq) : this.#prepareRead();
    const started = process.hrtime.bigint();
    let elapsed: number;
    this.#post(operation, seq);
    try {
      await this.#until(() => this.#answered);
      elapsed = Number(process.hrtime.bigint() - started) / 1000;
      // Until the acknowledgement the NIC may retransmit these bytes, so the next ping must not overwrite them.
      await this.#until(() => this.#acknowledged);
    } catch (error) {
      if (signal.aborted) return undefined;
      if (this.#gone.aborted) {
        throw new Failure(`${this.#welcome.connection.gid} has gone away`, { hint: DEAD_HINT, cause: error });
      }
      if (!this.#patience.signal.aborted) throw error;
      throw new Failure(`no answer to ping ${seq} within ${timeoutMs} ms`, {
        hint: 'does the server still run? --timeout sets how long to wait',
        cause: error,
      });
    } finally {
      clearTimeout(timer);
    }
    if (!hasPattern(this.#inBytes, expected)) {
      throw new Failure(`the answer to ping ${seq} has other bytes than were sent`, {
        hint: 'the data was damaged on its way',
      });
    }
    return elapsed;
  }

  #prepareSend(seq: number): number {
    fillPattern(this.#outBytes, seq);
    this.#endpoint.qp.postRecv({ wrId: seq, sgList: [{ mr: this.#in, length: this.#options.size }] });
    return seq;
  }

  #prepareRead(): number {
    this.#inBytes.fill(0xff);
    return 0;
  }

  #post(operation: Operation, seq: number): void {
    const { size } = this.#options;
    this.#answered = false;
    this.#acknowledged = false;
    const common = { wrId: seq, sendFlags: SendFlags.SIGNALED };
    if (operation === 'send') {
      this.#endpoint.qp.postSend({ ...common, opcode: WrOpcode.SEND, sgList: [{ mr: this.#out, length: size }] });
    } else {
      const { addr, rkey } = this.#welcome.region;
      const sgList = [{ mr: this.#in, length: size }];
      this.#endpoint.qp.postSend({ ...common, opcode: WrOpcode.RDMA_READ, sgList, remoteAddr: addr, rkey });
    }
  }

  /** Polls completions until the condition holds. */
  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      for (const wc of await completions(this.#endpoint.cq, 4, this.#signal)) this.#complete(wc);
    }
  }

  #complete(wc: WorkCompletion): void {
    if (wc.ok) {
      // The response to a READ is both.
      if (wc.opcode !== WcOpcode.SEND) this.#answered = true;
      if (wc.opcode !== WcOpcode.RECV) this.#acknowledged = true;
      return;
    }
    const { gid } = this.#welcome.connection;
    if (wc.status === WcStatus.RETRY_EXC_ERR) {
      throw new Failure(`${gid} no longer responds (${wc.statusText})`, { hint: DEAD_HINT });
    }
    throw new Failure(`a ping to ${gid} failed: ${wc.statusText}`);
  }

  [Symbol.dispose](): void {
    this.#endpoint.close();
  }

  get #welcome(): Welcome {
    if (this.#peer === undefined) throw new Error('the peer is not met yet');
    return this.#peer;
  }
}

/** False if the signal was aborted meanwhile. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  try {
    if (milliseconds > 0) await sleep(milliseconds, undefined, { signal });
    return !signal.aborted;
  } catch {
    return false;
  }
}
