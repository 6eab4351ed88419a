import {
  AccessFlags,
  type Context,
  type MemoryRegion,
  type ProtectionDomain,
  type QpType,
  type QueuePair,
  SendFlags,
  WcOpcode,
  type WorkCompletion,
  WrOpcode,
} from '@verbs/core';
import type { Connection, Request } from '@verbs/core/rendezvous';
import { Failure, messageOf } from '@verbs/lib/failure';
import { completions } from '@verbs/lib/rc';
import { Fields } from '@verbs/lib/rendezvous';
import { goneSignal } from './gone.js';
import { type Invitation, fillPattern, readInvitation } from './protocol.js';

/** Posted receive requests: a ping finds one while the reply to the last is under way. */
const DEPTH = 4;

/** Serves a client until it leaves. Returns how many SENDs were answered. */
export async function serve(context: Context, request: Request, stop: AbortSignal): Promise<number> {
  using pd = context.allocPd();
  const session = new Session(pd, invitationOf(request));
  const connection = await session.accept(request, pd, stop);
  try {
    return await session.echo(connection, AbortSignal.any([stop, goneSignal(connection)]));
  } finally {
    connection.close();
  }
}

/** What the client asks for. One that asks for something else is told so. */
function invitationOf(request: Request): Invitation {
  try {
    return readInvitation(new Fields(request.privateData, 'invitation'));
  } catch (error) {
    request.reject({ privateData: { error: messageOf(error).slice(0, 250) } });
    throw error;
  }
}

class Session {
  readonly #operation: Invitation['operation'];
  readonly #size: number;
  readonly #slots: MemoryRegion;

  constructor(pd: ProtectionDomain, { operation, size }: Invitation) {
    this.#operation = operation;
    this.#size = size;
    const access = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ;
    this.#slots = pd.allocMr(Math.max(size, 1) * DEPTH, access);
    fillPattern(this.#slots.bytes.subarray(0, size), 0);
  }

  accept(request: Request, pd: ProtectionDomain, signal: AbortSignal): Promise<Connection> {
    return request.accept({
      pd,
      signal,
      cap: { maxSendWr: 2 * DEPTH, maxRecvWr: DEPTH },
      access: AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ,
      privateData: this.#slots.remote(),
      prepare: (qp) => {
        if (this.#operation === 'send') for (let slot = 0; slot < DEPTH; slot++) this.#postRecv(qp, slot);
      },
    });
  }

  /** Replies to pings. */
  async echo({ qp, cq }: Connection, signal: AbortSignal): Promise<number> {
    let answered = 0;
    try {
      for (;;) for (const wc of await completions(cq, 2 * DEPTH, signal)) answered += this.#complete(qp, wc);
    } catch (error) {
      if (!signal.aborted) throw error;
      // The last reply's completion may have come together with the end.
      const last = cq.poll(2 * DEPTH).filter((wc) => wc.ok && wc.opcode !== WcOpcode.RECV);
      return answered + last.length;
    }
  }

  #complete(qp: QueuePair<typeof QpType.RC>, wc: WorkCompletion): number {
    if (!wc.ok) throw new Failure(`a client is lost: ${wc.statusText}`);
    const slot = Number(wc.wrId);
    if (wc.opcode !== WcOpcode.RECV) {
      // Only now the slot's bytes are free.
      this.#postRecv(qp, slot);
      return 1;
    }
    qp.postSend({
      wrId: slot,
      opcode: WrOpcode.SEND,
      sendFlags: SendFlags.SIGNALED,
      sgList: [{ mr: this.#slots, offset: slot * this.#size, length: wc.byteLen }],
    });
    return 0;
  }

  #postRecv(qp: QueuePair<typeof QpType.RC>, slot: number): void {
    qp.postRecv({ wrId: slot, sgList: [{ mr: this.#slots, offset: slot * this.#size, length: this.#size }] });
  }
}
