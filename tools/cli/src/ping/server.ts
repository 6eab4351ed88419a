import {
  AccessFlags,
  type Context,
  type MemoryRegion,
  type ProtectionDomain,
  SendFlags,
  WcOpcode,
  type WorkCompletion,
  WrOpcode,
} from '@verbs/core';
import { DatagramPort, type SideChannel, respond, datagramAddress, type Fields } from '@verbs/lib/rendezvous';
import { Endpoint, completions } from '@verbs/lib/rc';
import { Failure } from '@verbs/lib/failure';
import { type Invitation, fillPattern, readInvitation, welcomeMessage } from './protocol.js';

/** Posted receive requests: a ping finds one while the reply to the last is under way. */
const DEPTH = 4;

/** Serves the client at the other end of the side channel until it leaves. Returns how many SENDs were answered. */
export async function serve(context: Context, channel: SideChannel, stop: AbortSignal): Promise<number> {
  const over = new AbortController();
  const signal = AbortSignal.any([stop, channel.gone, over.signal]);
  using pd = context.allocPd();
  using datagrams = new DatagramPort(context, pd);
  channel.send(datagrams.address);
  const peer = datagramAddress(await channel.receive());
  let echo: Promise<number> | undefined;
  const decide = (request: Fields): unknown => {
    const session = new Session(context, pd, readInvitation(request));
    echo = session.echo(signal);
    // A failed session ends the responses too; it is awaited below.
    echo.catch(() => {
      over.abort();
    });
    return session.welcome;
  };
  try {
    // Continues during the pings: the client sends its request again until the response arrives.
    await respond(datagrams, peer, decide, signal);
    return (await echo) ?? 0;
  } finally {
    over.abort();
  }
}

class Session {
  readonly welcome: unknown;
  readonly #endpoint: Endpoint;
  readonly #size: number;
  readonly #slots: MemoryRegion;

  constructor(context: Context, pd: ProtectionDomain, { operation, size, connection }: Invitation) {
    const access = operation === 'read' ? AccessFlags.REMOTE_READ : 0;
    this.#size = size;
    this.#endpoint = new Endpoint(context, pd, { maxSendWr: 2 * DEPTH, maxRecvWr: DEPTH, access });
    this.#slots = pd.allocMr(Math.max(size, 1) * DEPTH, AccessFlags.LOCAL_WRITE | access);
    fillPattern(new Uint8Array(this.#slots.buffer, 0, size), 0);
    const { addr, rkey } = this.#slots;
    this.welcome = welcomeMessage({ connection: this.#endpoint.address, region: { addr, rkey, length: size } });
    // The receives are posted before the client learns of this queue pair.
    this.#endpoint.connect(connection);
    if (operation === 'send') for (let slot = 0; slot < DEPTH; slot++) this.#postRecv(slot);
  }

  /** Replies to pings. */
  async echo(signal: AbortSignal): Promise<number> {
    let answered = 0;
    try {
      for (;;) {
        for (const wc of await completions(this.#endpoint.cq, 2 * DEPTH, signal)) answered += this.#complete(wc);
      }
    } catch (error) {
      if (signal.aborted) return answered;
      throw error;
    } finally {
      this.#endpoint.close();
    }
  }

  #complete(wc: WorkCompletion): number {
    if (!wc.ok) throw new Failure(`a client is lost: ${wc.statusText}`);
    const slot = Number(wc.wrId);
    if (wc.opcode !== WcOpcode.RECV) {
      // Only now the slot's bytes are free.
      this.#postRecv(slot);
      return 1;
    }
    this.#endpoint.qp.postSend({
      wrId: slot,
      opcode: WrOpcode.SEND,
      sendFlags: SendFlags.SIGNALED,
      sgList: [{ mr: this.#slots, offset: slot * this.#size, length: wc.byteLen }],
    });
    return 0;
  }

  #postRecv(slot: number): void {
    const sge = { mr: this.#slots, offset: slot * this.#size, length: this.#size };
    this.#endpoint.qp.postRecv({ wrId: slot, sgList: [sge] });
  }
}
