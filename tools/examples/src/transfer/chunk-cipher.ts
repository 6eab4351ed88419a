import { createCipheriv, randomBytes } from 'node:crypto';
import { Fields } from '@verbs/lib/rendezvous';

const ALGORITHM = 'aes-128-ctr';
const KEY_BYTES = 16;

/**
 * Hides the file's bytes on the wire. RDMA sends memory as it is: who captures the packets has the file. The key goes
 * over the side channel, not over RDMA, so it is in no capture.
 *
 * It also keeps packet analysers honest: a payload that happens to begin with an EtherType and two zeros, as memory
 * with small integers does, is taken for an encapsulated frame by Wireshark.
 */
export class ChunkCipher {
  readonly #key: Buffer;
  readonly #iv: Buffer;
  readonly #cipher: ReturnType<typeof createCipheriv>;

  private constructor(key: Buffer, iv: Buffer) {
    this.#key = key;
    this.#iv = iv;
    this.#cipher = createCipheriv(ALGORITHM, key, iv);
  }

  static create(): ChunkCipher {
    return new ChunkCipher(randomBytes(KEY_BYTES), randomBytes(KEY_BYTES));
  }

  /** What the other side needs to know. */
  get message(): unknown {
    return { key: this.#key.toString('hex'), iv: this.#iv.toString('hex') };
  }

  static read(message: unknown): ChunkCipher {
    const fields = new Fields(message, 'key');
    return new ChunkCipher(secret(fields.text('key')), secret(fields.text('iv')));
  }

  /** Hides the bytes, or shows those that the other side has hid, in place. Chunks come in their order at both ends. */
  apply(bytes: Uint8Array): void {
    bytes.set(this.#cipher.update(bytes));
  }
}

function secret(hex: string): Buffer {
  const bytes = Buffer.from(hex, 'hex');
  if (bytes.length !== KEY_BYTES) throw new Error("the peer's key is not one of 16 bytes");
  return bytes;
}
