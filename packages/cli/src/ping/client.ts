import { setTimeout as sleep } from 'node:timers/promises';
import {
  AccessFlags,
  type Context,
  type MemoryRegion,
  type ProtectionDomain,
  QpAttrMask,
  type RemoteRegion,
  SendFlags,
  WcOpcode,
  type WorkCompletion,
  WcStatus,
  WrOpcode,
} from '@verbs/core';
import { type Connection, dial } from '@verbs/core/rendezvous';
import { completions } from '@verbs/lib/rc';
import { Failure, messageOf } from '@verbs/lib/failure';
import { refusal } from '../refusal.js';
import { delayed } from './delayed.js';
import { goneSignal } from './gone.js';
import { type Operation, fillPattern, hasPattern } from './protocol.js';
import { Statistics, type Summary } from './statistics.js';

export interface PingOptions {
  host: string;
  port: number;
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
  /** After the last one, also if that has failed. */
  onEnd(summary: Summary): void;
}

/** The NIC's retries report a killed server. After this time the closed connection does, if no retry is under way. */
const GRACE_MS = 2000;

const DEAD_HINT = 'does its "verbs ping -s" still run?';

/** Pings a server. */
export async function ping(context: Context, options: PingOptions, events: PingEvents): Promise<void> {
  using pd = context.allocPd();
  const connection = await meet(pd, options);
  try {
    const client = new Client(pd, connection, options);
    events.onPeer(client.peer.gid, client.peer.qpNum);
    await client.run(events);
  } finally {
    connection.close();
  }
}

/** The connection, whose private data is the server's region. */
async function meet(
  pd: ProtectionDomain,
  { host, port, operation, size, timeoutMs, signal }: PingOptions,
): Promise<Connection> {
  const timeout = Math.max(1, timeoutMs);
  const cap = { maxSendWr: 4, maxRecvWr: 4 };
  try {
    return await dial({ host, port, pd, cap, timeout, signal, privateData: { operation, size } });
  } catch (error) {
    signal.throwIfAborted();
    const refused = refusal(error);
    if (refused !== undefined) throw refused;
    throw new Failure(`no "verbs ping -s" at ${host} port ${port}: ${messageOf(error)}`, {
      hint: 'start it there; on another machine with --bind ADDRESS',
      cause: error,
    });
  }
}

class Client {
  readonly peer: { gid: string; qpNum: number };
  readonly #options: PingOptions;
  /** Aborted some time after the server closed its connection. */
  readonly #gone: AbortSignal;
  readonly #connection: Connection;
  readonly #out: MemoryRegion;
  readonly #in: MemoryRegion;
  readonly #outBytes: Uint8Array;
  readonly #inBytes: Uint8Array;
  readonly #patience = new AbortController();
  /** Aborted by the user, by the timeout of a reply, or when the server is gone. */
  readonly #signal: AbortSignal;
  /** Of the current ping: the reply has arrived; the peer's NIC has acknowledged the request. */
  #answered = false;
  #acknowledged = false;

  constructor(pd: ProtectionDomain, connection: Connection, options: PingOptions) {
    const { destQpNum, ahAttr } = connection.qp.query(QpAttrMask.DEST_QPN | QpAttrMask.AV).attr;
    this.peer = { gid: ahAttr.grh.dgid, qpNum: destQpNum };
    this.#connection = connection;
    this.#gone = delayed(goneSignal(connection), GRACE_MS);
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#patience.signal, this.#gone]);
    const length = Math.max(options.size, 1);
    this.#out = pd.allocMr(length, AccessFlags.LOCAL_WRITE);
    this.#in = pd.allocMr(length, AccessFlags.LOCAL_WRITE);
    this.#outBytes = this.#out.bytes.subarray(0, options.size);
    this.#inBytes = this.#in.bytes.subarray(0, options.size);
  }

  async run(events: PingEvents): Promise<void> {
    const { count = Infinity, intervalMs, signal } = this.#options;
    const statistics = new Statistics();
    try {
      for (let seq = 1; seq <= count && !signal.aborted; seq++) {
        if (seq > 1 && !(await pause(intervalMs, signal))) break;
        statistics.addSent();
        const microseconds = await this.#ping(seq);
        if (microseconds === undefined) break;
        statistics.addReceived(microseconds);
        events.onReply(seq, microseconds);
      }
    } finally {
      events.onEnd(statistics.summary());
    }
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
        throw new Failure(`${this.peer.gid} has gone away`, { hint: DEAD_HINT, cause: error });
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
    this.#connection.qp.postRecv({ wrId: seq, sgList: [{ mr: this.#in, length: this.#options.size }] });
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
      this.#connection.qp.postSend({ ...common, opcode: WrOpcode.SEND, sgList: [{ mr: this.#out, length: size }] });
    } else {
      const remote = this.#connection.privateData as RemoteRegion;
      const sgList = [{ mr: this.#in, length: size }];
      this.#connection.qp.postSend({ ...common, opcode: WrOpcode.RDMA_READ, sgList, remote });
    }
  }

  /** Polls completions until the condition holds. */
  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      for (const wc of await completions(this.#connection.cq, 4, this.#signal)) this.#complete(wc);
    }
  }

  #complete(wc: WorkCompletion): void {
    if (wc.ok) {
      // The response to a READ is both.
      if (wc.opcode !== WcOpcode.SEND) this.#answered = true;
      if (wc.opcode !== WcOpcode.RECV) this.#acknowledged = true;
      return;
    }
    const { gid } = this.peer;
    if (wc.status === WcStatus.RETRY_EXC_ERR) {
      throw new Failure(`${gid} no longer responds (${wc.statusText})`, { hint: DEAD_HINT });
    }
    throw new Failure(`a ping to ${gid} failed: ${wc.statusText}`);
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
