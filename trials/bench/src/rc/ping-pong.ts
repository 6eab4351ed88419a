import { CompletionBatch, RecvBatch, SendBatch, SendFlags, WcOpcode, wcStatusText, WrOpcode } from '@verbs/core';
import type { End } from './end.js';
import type { Way } from './task.js';

export const DEPTH = 16;

/** One end of a ping-pong of RC SENDs: the first `size` bytes of the buffer are sent, the next received into. */
export interface Player<Taken = void> {
  send: () => void;
  /** Waits for a message of the other end, and puts a new receive in the place of the one that it took. */
  receive: () => Taken;
}

/** Polls without a pause. Receives are posted when this returns. */
export function pollingPlayer(way: Way, end: End, size: number): Player {
  if (way === 'batch') return batched(end, size);
  const { send, taken } = plain(end, size);
  return {
    send,
    receive: () => {
      while (!taken());
    },
  };
}

/** Sleeps on the completion channel. */
export function sleepingPlayer(end: End, size: number): Player<Promise<void>> {
  const { send, taken } = plain(end, size);
  return {
    send,
    receive: async () => {
      do await end.cq.wait();
      while (!taken());
    },
  };
}

function plain({ qp, cq, mr }: End, size: number) {
  const receive = () => {
    qp.postRecv({ sgList: [{ mr, offset: size, length: size }] });
  };
  for (let i = 0; i < DEPTH; i++) receive();
  return {
    send: () => {
      qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [{ mr, length: size }] });
    },
    /** Receives the message if it has arrived. */
    taken: () => {
      let received = false;
      for (const wc of cq.poll(DEPTH)) {
        if (!wc.ok) throw new Error(wc.statusText);
        if (wc.opcode !== WcOpcode.RECV) continue;
        if (wc.byteLen !== size) throw new Error(`${wc.byteLen} bytes came instead of ${size}`);
        received = true;
      }
      if (received) receive();
      return received;
    },
  };
}

function batched({ qp, cq, mr }: End, size: number): Player {
  const message = new SendBatch(1);
  message.set(0, { opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [{ mr, length: size }] });
  const receives = new RecvBatch(DEPTH);
  for (let i = 0; i < DEPTH; i++) receives.set(i, { wrId: i, sgList: [{ mr, offset: size, length: size }] });
  qp.postRecvBatch(receives);
  const done = new CompletionBatch(DEPTH);
  return {
    send: () => {
      qp.postSendBatch(message);
    },
    receive: () => {
      for (let received = false; !received;) {
        const count = cq.pollBatch(done);
        for (let i = 0; i < count; i++) {
          if (!done.ok(i)) throw new Error(wcStatusText(done.status(i)));
          if (done.opcode(i) !== WcOpcode.RECV) continue;
          if (done.byteLen(i) !== size) throw new Error(`${done.byteLen(i)} bytes came instead of ${size}`);
          received = true;
        }
      }
      qp.postRecvBatch(receives, 0, 1);
    },
  };
}
