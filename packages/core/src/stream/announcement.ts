import { constants } from 'node:buffer';
import { errno } from '../base/errno.js';
import { VerbsError } from '../base/errors.js';
import { type Check, fields, or, range } from '../base/fields.js';
import { rangeError } from '../base/validate.js';

/** The buffers of one end of a socket. */
export interface SocketBuffers {
  /** Messages that the peer may send before this end has taken the first: 8 to 1024, default 16. */
  slots?: number;
  /** Bytes of each: 256 to 2^24, default 131072. */
  size?: number;
}

/** What one end tells the other before the connection. */
export type Announcement = Required<SocketBuffers>;

export const BUFFER_FIELDS = { slots: or(range(8, 1024), 16), size: or(range(256, 1 << 24), 131_072) };

/** A check of options that have BUFFER_FIELDS. The buffers are one region. */
export function withBuffers<T extends Announcement>(check: Check<T>): Check<T> {
  return (value, path) => {
    const options = check(value, path);
    const { slots, size } = options;
    const most = Math.floor(constants.MAX_LENGTH / slots);
    if (size > most) throw rangeError(`${path}.size`, `at most ${most} with ${slots} slots`, size);
    return options;
  };
}

const PROTOCOL = 'verbs-stream/1';
const FORM = /^verbs-stream\/1 (\d{1,4})x(\d{1,8})$/;

/** The text that goes to the peer, as the private data of the connection: at most 32 bytes. */
export function announce({ slots, size }: Announcement): string {
  return `${PROTOCOL} ${slots}x${size}`;
}

const check = fields(BUFFER_FIELDS);

/** Reads the peer's text, or the bytes of it, which may end in zeros. The peer is not trusted. */
export function announced(value: unknown): Announcement {
  const text = value instanceof Uint8Array ? Buffer.from(value).toString('latin1').replace(/\0+$/, '') : value;
  const [, slots, size] = (typeof text === 'string' ? FORM.exec(text) : null) ?? [];
  if (slots === undefined || size === undefined) {
    throw new VerbsError(errno.EPROTO, 'connect', {
      text: `the peer is no socket of @verbs/core/stream (${PROTOCOL})`,
      hint:
        'a server of listen() of @verbs/core/rendezvous takes dial() of that module, and a server of createServer() takes ' +
        'connect(): make both ends of the same module',
    });
  }
  return check({ slots: Number(slots), size: Number(size) }, 'privateData');
}
