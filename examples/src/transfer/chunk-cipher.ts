import { createCipheriv, randomBytes } from 'node:crypto';
import type { Fields } from '@verbs/lib/rendezvous';

const ALGORITHM = 'aes-128-ctr';
const KEY_BYTES = 16;

/**
 * Hides the file's bytes on the wire. RDMA sends memory unencrypted: a capture of the packets contains the file. The key
 * travels with the request for a connection, over TCP and not over RDMA, so no capture contains it.
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

  /** The key as a message for the other side. */
  get message(): unknown {
    return { key: this.#key.toString('hex'), iv: this.#iv.toString('hex') };
  }

  static read(fields: Fields): ChunkCipher {
    return new ChunkCipher(secret(fields.text('key')), secret(fields.text('iv')));
  }

  /** Encrypts or decrypts the bytes in place. Both ends call it for the chunks in the same order. */
  apply(bytes: Uint8Array): void {
    bytes.set(this.#cipher.update(bytes));
  }
}

function secret(hex: string): Buffer {
  const bytes = Buffer.from(hex, 'hex');
  if (bytes.length !== KEY_BYTES) throw new Error("the peer's key is not one of 16 bytes");
  return bytes;
}
