/** Blocks of a pcapng file, written out as its specification has them. */
function block(type: number, body: Buffer): Buffer {
  const length = 12 + body.length;
  const head = Buffer.alloc(8);
  head.writeUInt32LE(type, 0);
  head.writeUInt32LE(length, 4);
  const tail = Buffer.alloc(4);
  tail.writeUInt32LE(length, 0);
  return Buffer.concat([head, body, tail]);
}

function option(code: number, value: Buffer): Buffer {
  const padded = Buffer.alloc(4 + Math.ceil(value.length / 4) * 4);
  padded.writeUInt16LE(code, 0);
  padded.writeUInt16LE(value.length, 2);
  value.copy(padded, 4);
  return padded;
}

const END = Buffer.alloc(4);

export function sectionBlock(comment: string): Buffer {
  const fixed = Buffer.alloc(16, 0xff);
  fixed.writeUInt32LE(0x1a2b3c4d, 0);
  fixed.writeUInt16LE(1, 4);
  fixed.writeUInt16LE(0, 6);
  return block(0x0a0d0d0a, Buffer.concat([fixed, option(1, Buffer.from(comment.padEnd(128))), END]));
}

export function interfaceBlock(): Buffer {
  const fixed = Buffer.alloc(8);
  fixed.writeUInt16LE(101, 0);
  return block(1, fixed);
}

export function packetBlock(captured: number, direction: 'sent' | 'received', original = captured): Buffer {
  const fixed = Buffer.alloc(20);
  fixed.writeUInt32LE(captured, 12);
  fixed.writeUInt32LE(original, 16);
  const flags = Buffer.alloc(4);
  flags.writeUInt32LE(direction === 'sent' ? 2 : 1);
  const data = Buffer.alloc(Math.ceil(captured / 4) * 4, 0xaa);
  return block(6, Buffer.concat([fixed, data, option(2, flags), END]));
}
