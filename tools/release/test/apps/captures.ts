import { readFileSync, writeFileSync } from 'node:fs';

const HEADER = 24;
const RECORD = 16;

/** Writes a capture of UDP packets of different lengths, with times in microseconds. */
export function capture(path: string, count: number): Buffer[] {
  const frames = Array.from({ length: count }, (_, i) => udpFrame(20 + 50 * i));
  const header = Buffer.alloc(HEADER);
  header.writeUInt32LE(0xa1b2c3d4, 0);
  header.writeUInt32LE(0x00040002, 4);
  header.writeUInt32LE(65535, 16);
  header.writeUInt32LE(1, 20);
  const records = frames.flatMap((frame, i) => {
    const record = Buffer.alloc(RECORD);
    record.writeUInt32LE(i, 0);
    record.writeUInt32LE(frame.length, 8);
    record.writeUInt32LE(frame.length, 12);
    return [record, frame];
  });
  writeFileSync(path, Buffer.concat([header, ...records]));
  return frames;
}

/** The frames of a capture. */
export function framesOf(path: string): Buffer[] {
  const bytes = readFileSync(path);
  const frames: Buffer[] = [];
  for (let at = HEADER; at < bytes.length;) {
    const length = bytes.readUInt32LE(at + 8);
    frames.push(bytes.subarray(at + RECORD, at + RECORD + length));
    at += RECORD + length;
  }
  return frames;
}

function udpFrame(payload: number): Buffer {
  const frame = Buffer.alloc(14 + 20 + 8 + payload, 0xa5);
  frame.write('020000000201020000000101', 0, 'hex'); // destination, source
  frame.writeUInt16BE(0x0800, 12);
  frame.writeUInt16BE(0x4500, 14);
  frame.writeUInt16BE(28 + payload, 16);
  frame.fill(0, 18, 22);
  frame.writeUInt16BE(0x4011, 22); // TTL, UDP
  frame.fill(0, 24, 26);
  frame.write('c0a80001c0a80002', 26, 'hex');
  frame.writeUInt16BE(8 + payload, 38);
  return frame;
}
