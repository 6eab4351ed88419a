import { crc32, deflateRawSync } from 'node:zlib';

// 1 January 1980, the earliest date that the format knows.
const DATE = 0x0021;
const VERSION = 20;
const DEFLATE = 8;

/**
 * A zip archive that depends on names and contents alone: CMake's and Info-ZIP's carry the files' times as well.
 *
 * @param {{ name: string, data: Uint8Array }[]} files
 */
export function zip(files) {
  /** @type {Buffer[]} */
  const parts = [];
  /** @type {Buffer[]} */
  const directory = [];
  let offset = 0;
  for (const { name, data } of files) {
    const path = Buffer.from(name);
    const content = deflateRawSync(data, { level: 9 });
    const common = Buffer.alloc(26);
    [VERSION, 0, DEFLATE, 0, DATE].forEach((value, index) => common.writeUInt16LE(value, index * 2));
    [crc32(data), content.length, data.length].forEach((value, index) => common.writeUInt32LE(value, 10 + index * 4));
    common.writeUInt16LE(path.length, 22);
    const head = Buffer.concat([Buffer.from('PK\x03\x04'), common, path]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), common, place, path);
    parts.push(head, content);
    offset += head.length + content.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, list, Buffer.from('PK\x05\x06'), end]);
}
