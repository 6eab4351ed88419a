import { describe, expect, it } from 'vitest';
import { jsonText, lineOf, textOf } from '../src/text/index.js';

const HARMFUL: readonly (readonly [character: string, escaped: string])[] = [
  ['\x1b[31m', '\\x1b[31m'],
  ['\x9b31m', '\\x9b31m'],
  ['\x7f', '\\x7f'],
  ['\0', '\\x00'],
  ['\r', '\\x0d'],
  ['\x85', '\\x85'],
  ['\u202e', '\\u202e'],
  ['\u2066', '\\u2066'],
  ['\u200f', '\\u200f'],
  ['\u2028', '\\u2028'],
  ['\u200b', '\\u200b'],
  ['\ufeff', '\\ufeff'],
  ['\u{e0041}', '\\u{e0041}'],
  ['\ud800', '\\ud800'],
  ['\udfff', '\\udfff'],
];

describe('foreign text', () => {
  it.each(HARMFUL)('has %j as an escape', (character, escaped) => {
    expect(textOf(`a${character}b`)).toBe(`a${escaped}b`);
    expect(lineOf(`a${character}b`)).toBe(`a${escaped}b`);
  });

  it.each(['größe', '日本語', 'עברית', 'می‌خواهم', '👩‍💻', 'a\tb', '\\x1b', ''])('leaves %j as it is', (text) => {
    expect([textOf(text), lineOf(text), jsonText(JSON.stringify(text))]).toEqual([text, text, JSON.stringify(text)]);
  });

  it('is one line where it is to be one', () => {
    expect(textOf('one\ntwo')).toBe('one\ntwo');
    expect(lineOf('one\ntwo')).toBe('one\\x0atwo');
  });

  it('may be bytes that are no text', () => {
    expect(lineOf(Uint8Array.of(0x67, 0xc3, 0xb6, 0xff, 0x9b))).toBe('gö\ufffd\ufffd');
    // A byte order mark is a character, and not to be seen.
    expect(lineOf(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61))).toBe('\\ufeffa');
  });

  it('means the same in JSON', () => {
    const value = { [HARMFUL.map(([character]) => character).join(' ')]: HARMFUL };
    const text = jsonText(JSON.stringify(value, undefined, 2));
    expect(JSON.parse(text)).toEqual(value);
    expect(text).toMatch(/^[\n\x20-\x7e]*$/);
  });
});
