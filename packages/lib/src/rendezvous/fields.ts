/** Reads the fields of a value that a peer sent. Every field is checked, because the peer is not trusted. */
export class Fields {
  readonly #value: Record<string, unknown>;
  readonly #what: string;

  constructor(value: unknown, what: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new Error(`the peer sent no ${what}`);
    this.#value = value as Record<string, unknown>;
    this.#what = what;
  }

  has(name: string): boolean {
    return name in this.#value;
  }

  integer(name: string, max: number = Number.MAX_SAFE_INTEGER): number {
    const value = this.#value[name];
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) return value;
    throw this.#error(name, `an integer from 0 to ${max}`);
  }

  text(name: string, max = 255): string {
    const value = this.#value[name];
    if (typeof value === 'string' && value.length <= max) return value;
    throw this.#error(name, `a string of at most ${max} characters`);
  }

  /** 64 bits travel as hexadecimal text: a JSON number holds 53. */
  u64(name: string): bigint {
    const value = this.#value[name];
    if (typeof value === 'string' && /^0x[0-9a-f]{1,16}$/.test(value)) return BigInt(value);
    throw this.#error(name, 'a 64-bit number such as 0x7f0012345000');
  }

  object(name: string): Fields {
    return new Fields(this.#value[name], `${name} in its ${this.#what}`);
  }

  #error(name: string, wanted: string): Error {
    return new Error(`the peer's ${this.#what} has no usable ${name}: ${wanted} is needed`);
  }
}
