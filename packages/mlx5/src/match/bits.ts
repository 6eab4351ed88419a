/** A field of up to 32 bits, most significant bit first, wherever it begins. */
export function readBits(bytes: Uint8Array, bit: number, width: number): number {
  let value = 0;
  for (let i = bit; i < bit + width; i += 1) {
    value = value * 2 + (((bytes[i >> 3] ?? 0) >> (7 - (i & 7))) & 1);
  }
  return value;
}

export function writeBits(bytes: Uint8Array, bit: number, width: number, value: number): void {
  for (let i = 0; i < width; i += 1) {
    const at = bit + width - 1 - i;
    const mask = 0x80 >> (at & 7);
    const set = Math.floor(value / 2 ** i) % 2 === 1;
    bytes[at >> 3] = ((bytes[at >> 3] ?? 0) & ~mask) | (set ? mask : 0);
  }
}
