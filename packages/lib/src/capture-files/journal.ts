import { JOURNAL, SECTION_HEADER } from './block-types.js';

// A journal entry of pcapng (Systemd Journal Export Block) is the text of `journalctl -o export`: a NAME=VALUE on each line. Wireshark shows
// it among the packets.

/** The fields of an entry, none of whose values has a line feed. */
export type JournalFields = Readonly<Record<string, string>>;

/** A section of a pcapng file that has these entries, and no packets. */
export function journalSection(entries: readonly JournalFields[]): Buffer {
  const head = words(SECTION_HEADER, 28, 0x1a2b3c4d, 1, 0xffffffff, 0xffffffff, 28);
  return Buffer.concat([head, ...entries.map(block)]);
}

/** The fields of a block's body, of any writer. Values of several lines, which are binary there, are left out. */
export function journalFields(body: Uint8Array): JournalFields {
  const fields: Record<string, string> = {};
  for (const line of Buffer.from(body).toString('utf8').split('\n')) {
    const equals = line.indexOf('=');
    if (equals > 0) fields[line.slice(0, equals)] = line.slice(equals + 1).replace(/\0+$/, '');
  }
  return fields;
}

function block(fields: JournalFields): Buffer {
  const text = Object.entries(fields).map(([name, value]) => `${name}=${value.replaceAll('\n', ' ')}\n`);
  const body = Buffer.from(text.join(''));
  const padding = Buffer.alloc(-body.length & 3);
  const length = 12 + body.length + padding.length;
  return Buffer.concat([words(JOURNAL, length), body, padding, words(length)]);
}

function words(...values: number[]): Buffer {
  const buffer = Buffer.alloc(4 * values.length);
  for (const [i, value] of values.entries()) buffer.writeUInt32LE(value, 4 * i);
  return buffer;
}
