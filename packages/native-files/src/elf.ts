import { statSync } from 'node:fs';
import { firstBytes } from './target.js';

const MACHINES: Readonly<Record<number, string>> = {
  3: 'ia32',
  21: 'ppc64',
  22: 's390x',
  40: 'arm',
  62: 'x64',
  183: 'arm64',
  243: 'riscv64',
  258: 'loong64',
};

/** Bytes of the header of a 64-bit file. */
const HEADER = 64;

/** What a file is by its first bytes: a library for a processor of Linux, one for another system, or neither. */
export function kindOfFile(path: string): { arch: string } | { system: string } | 'damaged' {
  const head = firstBytes(path, HEADER);
  if (head === undefined || head.length < 20 || !isWhole(path, head)) return 'damaged';
  if (head.readUInt32BE(0) === 0x7f454c46) {
    const machine = head[5] === 2 ? head.readUInt16BE(18) : head.readUInt16LE(18);
    return { arch: MACHINES[machine] ?? `machine ${machine}` };
  }
  if (head.toString('latin1', 0, 2) === 'MZ') return { system: 'Windows' };
  if ([0xcffaedfe, 0xcafebabe].includes(head.readUInt32BE(0))) return { system: 'macOS' };
  return 'damaged';
}

/**
 * Whether a 64-bit library is as long as its header says: the table of sections is its end. True for all other files,
 * which the system's loader rejects by itself.
 */
export function isWhole(path: string, head = firstBytes(path, HEADER)): boolean {
  if (head === undefined || head.length < 20 || head.readUInt32BE(0) !== 0x7f454c46) return true;
  if (head.length < HEADER) return false;
  if (head[4] !== 2 || head[5] !== 1) return true;
  const end = head.readBigUInt64LE(40) + BigInt(head.readUInt16LE(58) * head.readUInt16LE(60));
  return end <= BigInt(statSync(path).size);
}
