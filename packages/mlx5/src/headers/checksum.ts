/** The Internet checksum (RFC 1071) of several pieces, each of an even number of bytes but the last. */
export function internetChecksum(...pieces: Uint8Array[]): number {
  let sum = 0;
  for (const bytes of pieces) {
    bytes.forEach((byte, i) => {
      sum += i % 2 === 0 ? byte * 256 : byte;
    });
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + Math.floor(sum / 0x10000);
  return ~sum & 0xffff;
}
