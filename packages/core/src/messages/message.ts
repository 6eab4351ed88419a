import { VerbsError } from '../base/errors.js';
import { errno } from '../base/errno.js';
import type { WorkCompletion } from '../completion/work-completion.js';

/** What a program sends: bytes, or text as UTF-8. */
export type MessageData = Uint8Array | ArrayBuffer | string;

/** The options of {@link Message.reply}. */
export interface ReplyOptions {
  /** 32 bits for the `immData` of the receiver; default none. */
  immData?: number;
  /** UD: the sender's qkey, 32 bits; default that of the queue pair that received the message. */
  remoteQkey?: number;
}

/** @internal How a message is answered. */
export type Replier = (data: MessageData, options: ReplyOptions) => Promise<WorkCompletion>;

/** A received message. Created by {@link receiver}. */
export class Message {
  /** The message; without the 40 bytes that UD has in front of it. Empty for RDMA_WRITE_WITH_IMM. */
  readonly data: Uint8Array;
  /** Its completion: `immData`, and of a datagram the sender. */
  readonly wc: WorkCompletion;
  readonly #reply: Replier;

  /** @internal */
  constructor(data: Uint8Array, wc: WorkCompletion, reply: Replier) {
    if (typeof reply !== 'function') throw new VerbsError(errno.EINVAL, 'ibv_post_send');
    this.data = data;
    this.wc = wc;
    this.#reply = reply;
  }

  /** The message as UTF-8 text. */
  text(): string {
    return new TextDecoder().decode(this.data);
  }

  /**
   * The value of a message that is JSON.
   *
   * @throws SyntaxError for any other
   */
  json(): unknown {
    return JSON.parse(this.text());
  }

  /**
   * Sends data to the sender of this message, and waits until it is sent. The data may change as soon as this returns.
   * It waits for a free buffer, so a program that awaits it does not outrun its peer.
   *
   * On UD the address of the sender comes from the datagram, and its address handle is kept for its next messages.
   *
   * @throws RangeError if the data is longer than the `size` of the receiver
   * @throws CompletionError, VerbsError as {@link QueuePair.send}; ERR_VERBS_CLOSED after `close()` of the receiver
   * @example for await (const message of receiver(qp)) await message.reply(message.data);
   */
  reply(data: MessageData, options: ReplyOptions = {}): Promise<WorkCompletion> {
    return this.#reply(data, options);
  }
}
