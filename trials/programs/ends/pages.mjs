// A boot sector without operating system: for ever, it writes how often it came by into the first word of each of 128
// pages, so that memory is old which a migration has not copied after it was written.
import { Buffer } from 'node:buffer';

/** The first page, and how many there are. */
export const firstPage = 0x1_0000;
export const pageCount = 128;
export const pageSize = 4096;

const code = [
  ...[0x66, 0x31, 0xc0], //             xor eax, eax
  ...[0x66, 0x40], //             next: inc eax
  ...[0xbb, 0x00, 0x10], //             mov bx, 0x1000
  ...[0x8e, 0xdb], //             page: mov ds, bx
  ...[0x66, 0xa3, 0x00, 0x00], //       mov [0], eax
  ...[0x81, 0xc3, 0x00, 0x01], //       add bx, 0x100
  ...[0x81, 0xfb, 0x00, 0x90], //       cmp bx, 0x9000
  ...[0x75, 0xf0], //                   jne page
  ...[0xeb, 0xe9], //                   jmp next
];

/** A floppy disk with it. */
export function bootDisk() {
  const disk = Buffer.alloc(1440 * 1024);
  disk.set(code);
  disk.set([0x55, 0xaa], 510);
  return disk;
}

/**
 * How often the program came by, by the memory of a machine that stands still.
 * @param {Buffer} memory of its pages
 * @throws Error if a page is older than the program allows
 */
export function rounds(memory) {
  const counts = Array.from({ length: pageCount }, (_, i) => memory.readUInt32LE(i * pageSize));
  const [newest = 0] = counts;
  const older = counts.findIndex((count) => count !== newest);
  const rest = older < 0 ? [] : counts.slice(older);
  if (!rest.every((count) => count === newest - 1)) throw new Error(`pages are old: ${counts.join(' ')}`);
  return newest;
}
