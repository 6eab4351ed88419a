/** @import { RecordType, Width } from './table.mjs' */

/** @type {Readonly<Record<Width, number>>} */
const bytesOf = { u8: 1, u16: 2, u32: 4, u64: 8 };

/**
 * The offset of each field, and the size of the record. Records follow each other, so a record that left a field
 * unaligned, or the next record, is rejected.
 * @param {RecordType} record
 */
export function layoutOf({ struct, fields }) {
  let bytes = 0;
  const offsets = fields.map(({ name, width }) => {
    const offset = bytes;
    if (offset % bytesOf[width] !== 0) throw new Error(`${struct}.${name} is not aligned: move it, or add padding`);
    bytes += bytesOf[width];
    return { name, offset };
  });
  if (bytes % 8 !== 0) throw new Error(`${struct} has ${bytes} bytes: add padding up to a multiple of 8`);
  return { offsets, bytes };
}
