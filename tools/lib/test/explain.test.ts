import { describe, expect, it } from 'vitest';
import { explain } from '../src/tunnel/explain.js';

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex.replace(/\s/g, ''), 'hex'));

const IP = (protocol: string) => `4500 0050 0001 4000 40 ${protocol} beef 7f000001 7f000002`;
const BTH_ACK = '11 00 ffff 00 000012 00 000007';
const ICRC = 'aabbccdd';

describe('explain', () => {
  it('reads fields that begin and end within a byte', () => {
    const [ip] = explain(bytes(`${IP('2f')} 00006558 ${BTH_ACK} 00000001 ${ICRC}`));
    expect(ip?.fields.slice(0, 2).map(({ text }) => text)).toEqual(['4', '5']);
    expect(ip?.fields.find(({ name }) => name === 'flags')).toMatchObject({ text: '0x2', meaning: 'do not fragment' });
  });

  it('knows plain RoCE v2 too', () => {
    const layers = explain(bytes(`${IP('11')} c000 12b7 001c 0000 ${BTH_ACK} 00000001 ${ICRC}`));
    expect(layers.map(({ name }) => name)).toEqual(['outer IPv4', 'outer UDP', 'BTH', 'AETH', 'ICRC']);
  });

  it('tells padding from data', () => {
    const write = '0a 30 ffff 00 000012 80 000007 0000000000001000 00000042 00000001';
    const layers = explain(bytes(`${IP('2f')} 00006558 ${write} 78 000000 ${ICRC}`));
    expect(layers.slice(-3).map(({ name, bytes }) => [name, bytes.length])).toEqual([
      ['payload', 1],
      ['padding', 3],
      ['ICRC', 4],
    ]);
  });

  it.each([
    ['a packet that is cut off', `${IP('2f')} 0000`, /ends within GRE/],
    ['nothing', '', /ends within outer IPv4/],
    ['an unknown protocol', IP('06'), /IP protocol 6/],
    ['an unknown port', `${IP('11')} c000 0035 0008 0000`, /UDP port 53/],
    ['an unknown opcode', `${IP('2f')} 00006558 04 00 ffff 00 000012 00 000007 ${ICRC}`, /opcode 0x4/],
  ])('refuses %s', (_, hex, message) => {
    expect(() => explain(bytes(hex))).toThrow(message);
  });
});
