// Encapsulated traffic: the packets on the wire, and the ports that accept them.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { QpState, SendFlags, WrOpcode } from '@verbs/core';
import { softNic } from '@verbs/soft';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createEncap, type Encap, type EncapAttr, EncapType, modifyQp, QpCaps } from '../src/index.js';
import {
  completion,
  configureDevices,
  connect,
  type End,
  end,
  open,
  ready,
  textIn,
  toInit,
  toRtr,
  toRts,
  write,
} from './helpers/devices.js';
import { collectUntil } from '../../core/test/shared/collect.js';

/** Flags with the VNI bit, and VNI 42. */
const VXLAN = Uint8Array.of(0x08, 0, 0, 0, 0, 0, 42, 0);
/** Version 0 without options, protocol type IPv4's is not what follows: 0x6558 is transparent Ethernet. */
const GRE = Uint8Array.of(0, 0, 0x65, 0x58);
const vxlan = { portNum: 1, encapType: EncapType.ENC_OVER_UDP, udpDstPort: 4789, header: VXLAN } as const;
const gre = { portNum: 1, encapType: EncapType.ENC_OVER_IPV4, ipProto: 47, header: GRE } as const;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'verbs-hbl-test-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Two devices, each with an encapsulation if it is given one, connected. */
function pair(first: EncapAttr | undefined, second: EncapAttr | undefined, options = ''): [End, End] {
  configureDevices('gaudi', options);
  const a = end(open('hbl_0', 'default'));
  const b = end(open('hbl_1', 'default'));
  const extras = (side: End, attr: EncapAttr | undefined) => {
    if (attr === undefined) return {};
    const { encapNum } = createEncap(side.ctx, attr);
    const hbl = { caps: QpCaps.ENCAP, encapNum };
    return { rtr: hbl, rts: hbl };
  };
  connect(a, b, extras(a, first));
  connect(b, a, extras(b, second));
  return [a, b];
}

/** What tshark says of the packets that hbl_0 sent and received. */
async function captured(name: string, traffic: () => Promise<void>, fields: readonly string[]): Promise<string[]> {
  const file = join(folder, `${name}.pcapng`);
  const capture = softNic('hbl_0').capture(file);
  await traffic();
  capture.stop();
  const args = ['-r', file, '-T', 'fields', ...fields.flatMap((field) => ['-e', field])];
  return execFileSync('tshark', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    .trim()
    .split('\n');
}

async function send(a: End, b: End, text: string): Promise<void> {
  b.qp.postRecv({ sgList: [{ mr: b.mr, offset: 100, length: 64 }] });
  a.mr.bytes.set(new TextEncoder().encode(text), 200);
  a.qp.postSend({
    opcode: WrOpcode.SEND,
    sendFlags: SendFlags.SIGNALED,
    sgList: [{ mr: a.mr, offset: 200, length: text.length }],
  });
  expect((await completion(b.cq)).ok).toBe(true);
  expect((await completion(a.cq)).ok).toBe(true);
  expect(new TextDecoder().decode(b.mr.bytes.slice(100, 100 + text.length))).toBe(text);
}

describe('over UDP', () => {
  it('VXLAN: WRITE and SEND arrive, and tshark sees UDP port 4789 and a VXLAN layer in every packet', async () => {
    const [a, b] = pair(vxlan, vxlan);
    const lines = await captured(
      'vxlan',
      async () => {
        expect(await write(a, b, 'written through a tunnel')).toBe('SUCCESS');
        await send(a, b, 'sent through a tunnel');
      },
      ['udp.dstport', 'vxlan.vni', 'ip.src'],
    );
    expect(textIn(b, 24)).toBe('written through a tunnel');
    expect(lines.length).toBeGreaterThanOrEqual(4);
    for (const line of lines) expect(line).toMatch(/^4789\t42\t127\.0\.0\.\d+$/);
  });

  it('the same between sockets', async () => {
    const [a, b] = pair(vxlan, vxlan, 'link=udp');
    expect(await write(a, b, 'over a real socket')).toBe('SUCCESS');
    expect(textIn(b, 18)).toBe('over a real socket');
  });

  it.each([
    ['the sender', vxlan, undefined],
    ['the receiver', undefined, vxlan],
  ] as const)('nothing arrives where only %s has it', async (_, first, second) => {
    const [a, b] = pair(first, second);
    expect(await write(a, b, 'lost')).toBe('RETRY_EXC_ERR');
    expect(b.mr.bytes.slice(0, 4)).toEqual(new Uint8Array(4));
  });

  it('nothing arrives where the ends disagree', async () => {
    const [a, b] = pair(vxlan, { ...vxlan, udpDstPort: 4790 });
    expect(await write(a, b, 'lost')).toBe('RETRY_EXC_ERR');
  });
});

describe('over IPv4', () => {
  it('GRE: WRITE and SEND arrive, and tshark sees protocol 47 and a GRE layer in every packet', async () => {
    const [a, b] = pair(gre, gre);
    const lines = await captured(
      'gre',
      async () => {
        expect(await write(a, b, 'written through GRE')).toBe('SUCCESS');
        await send(a, b, 'sent through GRE');
      },
      ['ip.proto', 'gre.proto', 'udp.dstport'],
    );
    expect(textIn(b, 19)).toBe('written through GRE');
    for (const line of lines) expect(line).toMatch(/^47(,\d+)?\t0x6558\t?$/);
  });
});

describe('without tunnelling', () => {
  it('NO_ENC is plain RoCE v2: the peer needs no encapsulation', async () => {
    const [a, b] = pair({ portNum: 1, encapType: EncapType.NO_ENC }, undefined);
    const lines = await captured(
      'plain',
      async () => {
        expect(await write(a, b, 'plain')).toBe('SUCCESS');
      },
      ['udp.dstport'],
    );
    expect(textIn(b, 5)).toBe('plain');
    for (const line of lines) expect(line).toBe('4791');
  });
});

it.each([
  ['NO_ENC', { portNum: 1, encapType: EncapType.NO_ENC }],
  ['UDP', vxlan],
  ['IPv4', gre],
] as const)('ipv4Addr is the outer source address for %s', async (name, attr) => {
  const [a, b] = pair({ ...attr, ipv4Addr: '192.0.2.77' }, attr, 'link=process');
  const lines = await captured(
    `source-${name}`,
    async () => {
      expect(await write(a, b, 'x')).toBe('SUCCESS');
    },
    ['ip.src'],
  );
  expect(lines[0]).toBe('192.0.2.77');
});

it.each(['rtr', 'rts'] as const)('an encapsulation said at %s only connects in no direction fully', async (step) => {
  configureDevices();
  const a = end(open('hbl_0', 'default'));
  const b = end(open('hbl_1', 'default'));
  const use = (side: End) => ({ caps: QpCaps.ENCAP, encapNum: createEncap(side.ctx, vxlan).encapNum });
  connect(a, b, { [step]: use(a) });
  const both = use(b);
  connect(b, a, { rtr: both, rts: both });
  // RTR is about the responder, RTS about the requester.
  const [from, to] = step === 'rtr' ? [a, b] : [b, a];
  expect(await write(from, to, 'half')).toBe('RETRY_EXC_ERR');
});

describe('lifetimes', () => {
  it('a queue pair keeps its encapsulation when the Encap is closed', async () => {
    const [a, b] = pair(vxlan, vxlan);
    const extra = createEncap(a.ctx, { ...vxlan, udpDstPort: 5000 });
    extra.close();
    modifyQp(a.qp, { qpState: 0 });
    modifyQp(b.qp, { qpState: 0 });
    const [one, two] = [createEncap(a.ctx, vxlan), createEncap(b.ctx, vxlan)];
    const use = (encap: Encap) => ({
      rtr: { caps: QpCaps.ENCAP, encapNum: encap.encapNum },
      rts: { caps: QpCaps.ENCAP, encapNum: encap.encapNum },
    });
    connect(a, b, use(one));
    connect(b, a, use(two));
    one.close();
    two.close();
    expect(one.closed).toBe(true);
    expect(await write(a, b, 'still there')).toBe('SUCCESS');
    // Its number is free again only when the queue pair has gone too.
    expect(createEncap(a.ctx, vxlan).encapNum).not.toBe(one.encapNum);
    a.qp.close();
    expect(createEncap(a.ctx, vxlan).encapNum).toBe(one.encapNum);
  });

  it('so does a queue pair of another default open, which is the same context for the library', () => {
    const [a, b] = pair(undefined, undefined);
    modifyQp(a.qp, { qpState: 0 });
    const encap = createEncap(open('hbl_0', 'default'), vxlan);
    modifyQp(a.qp, toInit());
    modifyQp(a.qp, toRtr(b), { caps: QpCaps.ENCAP, encapNum: encap.encapNum });
    encap.close();
    expect(createEncap(a.ctx, vxlan).encapNum).not.toBe(encap.encapNum);
  });

  it('an Encap that nobody closes is freed when it is collected', async () => {
    configureDevices();
    const ctx = open('hbl_0', 'default');
    for (let i = 0; i < 8; i++) createEncap(ctx, vxlan);
    const freed = await collectUntil(() => {
      try {
        createEncap(ctx, vxlan).close();
        return true;
      } catch {
        return false;
      }
    });
    expect(freed).toBe(true);
  });

  it('closing the context closes everything in it, whatever the order of making', async () => {
    const [a] = pair(vxlan, vxlan);
    const later = createEncap(a.ctx, vxlan);
    a.ctx.close();
    expect([later.closed, a.qp.closed]).toEqual([true, true]);
    expect(() => createEncap(a.ctx, vxlan)).toThrow(/the Context in ctx is closed/);
    await Promise.resolve();
  });

  it('RESET gives an encapsulation back', () => {
    const [a, b] = pair(undefined, undefined);
    modifyQp(a.qp, { qpState: 0 });
    const encap = createEncap(a.ctx, vxlan);
    modifyQp(a.qp, toInit());
    modifyQp(a.qp, toRtr(b), { caps: QpCaps.ENCAP, encapNum: encap.encapNum });
    modifyQp(a.qp, toRts(), { caps: QpCaps.ENCAP, encapNum: encap.encapNum });
    encap.close();
    modifyQp(a.qp, { qpState: 0 });
    expect(createEncap(a.ctx, vxlan).encapNum).toBe(encap.encapNum);
  });
});

it('a queue pair with an encapsulation is not asked for its port: C asks the kernel nothing', () => {
  const [a, b] = [end(ready()), end(open('hbl_1'))];
  const { encapNum } = createEncap(a.ctx, vxlan);
  const uses = { caps: QpCaps.ENCAP, encapNum };
  const query = vi.spyOn(a.qp, 'query');
  modifyQp(a.qp, toInit());
  modifyQp(a.qp, toRtr(b), uses);
  modifyQp(a.qp, toRts(), uses);
  expect(query).not.toHaveBeenCalled();
  modifyQp(a.qp, { qpState: QpState.RESET });
  // Of this transition the package knows nothing.
  a.qp.modify(toInit());
  modifyQp(a.qp, toRtr(b), uses);
  expect(query).toHaveBeenCalledOnce();
});
