import { describe, expect, it } from 'vitest';
import { ranges } from '../src/encap/show.js';
import { verbs } from './verbs.js';

interface Field {
  name: string;
  text: string;
  bits: number;
}

interface Layer {
  name: string;
  offset: number;
  bytes: string;
  fields: Field[];
}

interface Delivery {
  tunnel: string;
  from: string;
  to: string;
  arrived: string;
  packets: { direction: string; bytes: string; layers: Layer[] }[];
}

const ONE_PORT = { VERBS_SOFT: 'hbl_0,kind=hbl,ports=1' };
const TWO_PROFILES = { VERBS_SOFT: 'wide,kind=hbl,ports=2,closed_ports=4;narrow,kind=hbl,ports=1,profile=gaudi2' };

describe('verbs encap', () => {
  it('shows what each port has, by profile, and that a port is down', async () => {
    const { status, stdout } = await verbs(['encap', '--json'], TWO_PROFILES);
    expect(status).toBe(0);
    const numbers = Array.from({ length: 30 }, (_, i) => i + 1);
    expect(JSON.parse(stdout)).toMatchObject([
      {
        device: 'wide',
        library: 'soft',
        portNum: 1,
        down: false,
        encaps: { reported: 8, types: ['NO_ENC', 'ENC_OVER_IPV4', 'ENC_OVER_UDP'] },
        usrFifos: { reported: 30, free: numbers, types: ['DB', 'CC'], sizeBytes: 512, bpThreshBytes: 256 },
      },
      { device: 'wide', library: 'soft', portNum: 2, down: true },
      { device: 'narrow', portNum: 1, down: false, encaps: { reported: 2, types: ['ENC_OVER_UDP'] } },
    ]);
    const [wide, down, narrow] = JSON.parse(stdout) as { encaps: { free: number[] } }[];
    expect(wide?.encaps.free).toHaveLength(8);
    expect(Object.keys(down ?? {})).not.toContain('encaps');
    // That kernel driver reports two and has one.
    expect(narrow?.encaps.free).toHaveLength(1);
  });

  it('prints a table for people', async () => {
    const { status, stdout } = await verbs(['encap', 'show'], ONE_PORT);
    expect(status).toBe(0);
    expect(stdout).toMatch(/│ device *│ port *│ encaps *│ free *│ types *│ FIFOs *│ free *│ types *│ entries *│ bp *│/);
    expect(stdout).toMatch(/│ hbl_0 *│ 1 *│ 8 *│ [\d-]+ *│ NO_ENC *│ 30 *│ 1-30 *│ DB *│ 64 *│ 256 B *│/);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('takes one device and one port', async () => {
    const { stdout } = await verbs(['encap', '-d', 'wide', '-i', '2', '--json'], TWO_PROFILES);
    expect(JSON.parse(stdout)).toMatchObject([{ device: 'wide', portNum: 2 }]);
  });

  it.each([
    [['-d', 'none'], 'there is no device none', 'there is hbl_0'],
    [['-i', '2'], 'hbl_0 has no port 2', 'from 1 to 1'],
  ])('%j fails with what there is', async (args, message, hint) => {
    const { status, stdout, stderr } = await verbs(['encap', ...args], ONE_PORT);
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
    expect(status).toBe(1);
    expect(stdout).toBe('');
  });

  it('writes free numbers as ranges', () => {
    expect(ranges([])).toBe('-');
    expect(ranges([0, 3, 2, 1, 7, 9, 8])).toBe('0-3, 7-9');
  });
});

describe('verbs encap demo', () => {
  const value = (layer: Layer | undefined, name: string) => layer?.fields.find((field) => field.name === name)?.text;

  it('explains each byte of what it captured', async () => {
    const { status, stdout } = await verbs(['encap', 'demo', '--json']);
    expect(status).toBe(0);
    const deliveries = JSON.parse(stdout) as Delivery[];
    expect(deliveries.map(({ tunnel, arrived }) => [tunnel, arrived])).toEqual([
      ['vxlan', 'through a tunnel'],
      ['gre', 'through a tunnel'],
    ]);
    for (const { packets } of deliveries) {
      expect(packets.map(({ direction }) => direction)).toEqual(['sent', 'received']);
      for (const { bytes, layers } of packets) {
        expect(layers.map((layer) => layer.bytes).join('')).toBe(bytes);
        for (const layer of layers) {
          expect(layer.fields.reduce((sum, { bits }) => sum + bits, 0)).toBe(layer.bytes.length * 4);
        }
      }
    }
  });

  it('has the outer headers of VXLAN: UDP to 4789, VNI 42, then the RDMA WRITE', async () => {
    const { stdout } = await verbs(['encap', 'demo', '--tunnel', 'vxlan', '--json']);
    const [delivery] = JSON.parse(stdout) as Delivery[];
    const [ip, udp, vxlan, bth, reth, payload] = delivery?.packets[0]?.layers ?? [];
    expect([value(ip, 'source'), value(ip, 'destination')].map((address) => `::ffff:${address ?? ''}`)).toEqual([
      delivery?.from,
      delivery?.to,
    ]);
    expect(value(ip, 'protocol')).toBe('17');
    expect(value(udp, 'destination port')).toBe('4789');
    expect(vxlan).toMatchObject({ name: 'VXLAN', offset: 28, bytes: '0800000000002a00' });
    expect(value(vxlan, 'VNI')).toBe('42');
    expect(value(bth, 'opcode')).toBe('0x0a');
    expect(value(reth, 'DMA length')).toBe('16');
    expect(value(payload, 'data')).toBe('"through a tunnel"');
  });

  it('prints the headers for people: GRE', async () => {
    const { status, stdout } = await verbs(['encap', 'demo', '-t', 'gre']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^GRE: an RDMA WRITE from \S+ to \S+ arrived: "through a tunnel"$/m);
    expect(stdout).toMatch(/^packet 1, sent, 72 bytes: outer IPv4 \| GRE \| BTH \| RETH \| payload \| ICRC$/m);
    expect(stdout).toMatch(/^ {4}protocol +8 bits +47 +GRE/m);
    expect(stdout).toMatch(/^ {2}GRE: 4 bytes from 20: 00 00 65 58$/m);
    expect(stdout).toMatch(/^packet 2, received, \d+ bytes: outer IPv4 \| GRE \| BTH \| AETH \| ICRC$/m);
    expect(stdout).not.toContain('VXLAN');
  });
});
