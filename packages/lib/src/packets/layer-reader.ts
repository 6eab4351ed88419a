import { jsonText } from '../text/index.js';

/** One field of a header, explained. */
export interface Field {
  name: string;
  bits: number;
  /** As the field is usually written: addresses with dots, keys in hexadecimal. */
  text: string;
  /** The meaning of the value, where the name does not say it. */
  meaning?: string;
}

/** A header, or the payload and trailer behind the headers. */
export interface Layer {
  name: string;
  /** From the first byte of the outer IP header. */
  offset: number;
  bytes: Uint8Array;
  fields: Field[];
}

type Text = (value: bigint, bits: number) => string;
type Meaning = string | ((value: bigint) => string | undefined);

export const decimal: Text = (value) => value.toString();
/** Hexadecimal, with the digits of the full field. */
export const hex: Text = (value, bits) => `0x${value.toString(16).padStart(Math.ceil(bits / 4), '0')}`;
export const mac: Text = (value) =>
  value
    .toString(16)
    .padStart(12, '0')
    .replace(/..(?=.)/g, '$&:');
/** The longest run of zeros is written as ::, as in RFC 5952. */
export const ipv6: Text = (value) => {
  const groups = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16));
  const runs = [...groups.join(':').matchAll(/\b0(:0)+\b/g)].sort((a, b) => b[0].length - a[0].length);
  const [longest] = runs;
  if (longest === undefined) return groups.join(':');
  const text = groups.join(':');
  const before = text.slice(0, longest.index).replace(/:$/, '');
  const after = text.slice(longest.index + longest[0].length).replace(/^:/, '');
  return `${before}::${after}`;
};
export const ipv4: Text = (value) => [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.');

/** Reads a header field by field in the order of the RFCs' drawings: most significant bit first. */
export class LayerReader {
  readonly #packet: Uint8Array;
  readonly #name: string;
  readonly #start: number;
  readonly #fields: Field[] = [];
  #bit = 0;

  constructor(packet: Uint8Array, name: string, start: number) {
    this.#packet = packet;
    this.#name = name;
    this.#start = start;
  }

  /** The next field. */
  field(name: string, bits: number, text: Text = decimal, meaning?: Meaning): bigint {
    const first = this.#start + (this.#bit >> 3);
    this.#bit += bits;
    const last = this.#start + ((this.#bit - 1) >> 3);
    let value = 0n;
    for (let at = first; at <= last; at++) {
      const byte = this.#packet[at];
      if (byte === undefined)
        throw new RangeError(`the packet ends within ${this.#name}, before "${name}" is complete`);
      value = (value << 8n) | BigInt(byte);
    }
    value = (value >> BigInt(-this.#bit & 7)) & ((1n << BigInt(bits)) - 1n);
    const says = typeof meaning === 'function' ? meaning(value) : meaning;
    this.#fields.push({ name, bits, text: text(value, bits), ...(says !== undefined && { meaning: says }) });
    return value;
  }

  /** Bytes that are no number. */
  bytes(name: string, count: number, meaning: string): void {
    const at = this.#start + (this.#bit >> 3);
    const text = jsonText(JSON.stringify(new TextDecoder('latin1').decode(this.#packet.subarray(at, at + count))));
    this.#fields.push({ name, bits: count * 8, text, meaning });
    this.#bit += count * 8;
  }

  /** Where the next layer begins. */
  get end(): number {
    return this.#start + Math.ceil(this.#bit / 8);
  }

  get layer(): Layer {
    return {
      name: this.#name,
      offset: this.#start,
      bytes: this.#packet.subarray(this.#start, this.end),
      fields: this.#fields,
    };
  }
}
