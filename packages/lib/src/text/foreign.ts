/** Nothing else is in most texts, and this is found out quickly. */
const PLAIN = /^[\n\t\x20-\x7e]*$/;

/**
 * What a reader does not see, or what changes the text around it: control characters, which drive a terminal (the C1 ones and
 * DEL too), characters that turn the direction of text, invisible ones, further line ends, halves of surrogate pairs. Not
 * the two joiners, which scripts need.
 */
const HARMFUL =
  // eslint-disable-next-line no-control-regex -- these are the characters to be found
  /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}\p{Cs}]/gu;

/**
 * Foreign text of several lines for a terminal or a page, with each harmful character as \xNN, \uNNNN or \u{NNNNN}. Tabs and
 * line feeds stay.
 */
export function textOf(text: string): string {
  return PLAIN.test(text) ? text : text.replace(HARMFUL, escaped);
}

/** The same for a text that is a line, or a part of one: a line feed would begin another one. Bytes are taken as UTF-8. */
export function lineOf(text: string | Uint8Array): string {
  const decoded = typeof text === 'string' ? text : new TextDecoder('utf-8', { ignoreBOM: true }).decode(text);
  return textOf(decoded).replaceAll('\n', '\\x0a');
}

/** A JSON document with the same characters as escapes of JSON: it has the same meaning. */
export function jsonText(json: string): string {
  return PLAIN.test(json) ? json : json.replace(HARMFUL, units);
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  if (code < 0x100) return `\\x${digits.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${digits.padStart(4, '0')}` : `\\u{${digits}}`;
}

function units(character: string): string {
  return Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('');
}
