import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { AccessFlags, type Context, QpState, QpType, type QueuePair, WrOpcode } from '@verbs/core';
import { configure } from '@verbs/soft';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  createFlow,
  createFlowActionPacketReformat,
  createFlowMatcher,
  ether,
  FlowActionPacketReformatType,
  FlowTableType,
  headers,
  ipv4,
  type Mlx5Flow,
  openDevice,
  udp,
  vxlan,
} from '../src/index.js';

// The Linux kernel's own vxlan interface is the other end of the tunnel: in a network namespace, on a TAP interface that
// is at the switch of mlx5_soft0.
const NAME = `vm5t${process.pid % 1_000_000}`;
const OURS = { mac: '02:00:00:00:aa:01', outer: '10.9.0.1', inner: '192.168.77.1' };
const KERNELS = { mac: '02:00:00:00:aa:02', outer: '10.9.0.2', inner: '192.168.77.2' };
const VNI = 42;
const SLOTS = 16;
const SLOT = 2048;

const missing =
  process.getuid?.() !== 0
    ? 'needs root, for a network namespace and a TAP interface'
    : !existsSync('/dev/net/tun')
      ? 'needs /dev/net/tun'
      : undefined;

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });

let ctx: Context;

beforeEach(() => {
  if (missing !== undefined) return;
  configure(`mlx5_soft0,kind=mlx5,switch=${NAME},tap=${NAME}`);
  ctx = openDevice('mlx5_soft0');
  ip('netns', 'add', NAME);
  ip('link', 'set', NAME, 'netns', NAME);
  const inside = (...args: string[]) => ip('-n', NAME, ...args);
  inside('link', 'set', NAME, 'address', KERNELS.mac, 'up');
  inside('addr', 'add', `${KERNELS.outer}/24`, 'dev', NAME);
  inside('neigh', 'replace', OURS.outer, 'lladdr', OURS.mac, 'dev', NAME, 'nud', 'permanent');
  const tunnel = ['id', String(VNI), 'dstport', '4789', 'local', KERNELS.outer, 'remote', OURS.outer, 'dev', NAME];
  inside('link', 'add', 'vx', 'type', 'vxlan', ...tunnel);
  inside('addr', 'add', `${KERNELS.inner}/24`, 'dev', 'vx');
  inside('link', 'set', 'vx', 'up');
});

afterEach(() => {
  if (missing !== undefined) return;
  ctx.close();
  ip('netns', 'del', NAME);
  configure(null);
});

/** Encapsulation for the way there, decapsulation for the way back. To be held. */
function tunnel(qp: QueuePair): Mlx5Flow[] {
  const [NIC_TX, NIC_RX] = [FlowTableType.NIC_TX, FlowTableType.NIC_RX];
  const encap = createFlowActionPacketReformat(ctx, {
    reformatType: FlowActionPacketReformatType.L2_TO_L2_TUNNEL,
    ftType: NIC_TX,
    data: headers(
      ether({ src: OURS.mac, dst: KERNELS.mac }),
      ipv4({ src: OURS.outer, dst: KERNELS.outer }),
      udp(),
      vxlan({ vni: VNI }),
    ),
  });
  const decap = createFlowActionPacketReformat(ctx, {
    reformatType: FlowActionPacketReformatType.L2_TUNNEL_TO_L2,
    ftType: NIC_RX,
  });
  const match = { outer: { ipProtocol: 17, udpDport: 4789 }, misc: { vxlanVni: VNI } };
  return [
    createFlow(createFlowMatcher(ctx, { ftType: NIC_TX }), undefined, [encap]),
    createFlow(createFlowMatcher(ctx, { ftType: NIC_RX, matchMask: match }), match, [decap, qp]),
  ];
}

/** Turns an ARP request for our address, or an echo request, into its reply; false for other frames. */
function answer(frame: Buffer): boolean {
  const own = Buffer.from(OURS.mac.replaceAll(':', ''), 'hex');
  const address = Buffer.from(OURS.inner.split('.').map(Number));
  const type = frame.readUInt16BE(12);
  if (type === 0x0806 && frame.readUInt16BE(20) === 1 && address.equals(frame.subarray(38, 42))) {
    frame.writeUInt16BE(2, 20);
    frame.copy(frame, 32, 22, 32);
    own.copy(frame, 22);
    address.copy(frame, 28);
  } else if (type === 0x0800 && frame[23] === 1 && frame[34] === 8 && address.equals(frame.subarray(30, 34))) {
    frame.copy(frame, 30, 26, 30);
    address.copy(frame, 26);
    // An echo reply is type 0 instead of 8: the checksum grows by that.
    frame.writeUInt8(0, 34);
    const sum = frame.readUInt16BE(36) + 0x0800;
    frame.writeUInt16BE((sum & 0xffff) + (sum >> 16), 36);
  } else {
    return false;
  }
  frame.copy(frame, 0, 6, 12);
  own.copy(frame, 6);
  return true;
}

it(
  missing === undefined ? "exchanges pings with the kernel's vxlan interface" : `is left out: ${missing}`,
  { skip: missing !== undefined, timeout: 60_000 },
  async () => {
    const [sendCq, recvCq] = [ctx.createCq(SLOTS), ctx.createCq(SLOTS)];
    const pd = ctx.allocPd();
    const mr = pd.allocMr(SLOTS * SLOT, AccessFlags.LOCAL_WRITE);
    const cap = { maxSendWr: SLOTS, maxRecvWr: SLOTS };
    const qp = pd.createQp({ qpType: QpType.RAW_PACKET, sendCq, recvCq, cap, sqSigAll: true });
    qp.modify({ qpState: QpState.INIT, portNum: 1 });
    qp.modify({ qpState: QpState.RTR });
    qp.modify({ qpState: QpState.RTS });
    const flows = tunnel(qp);
    const receive = (slot: number) => {
      qp.postRecv({ wrId: slot, sgList: [{ mr, offset: slot * SLOT, length: SLOT }] });
    };
    for (let slot = 0; slot < SLOTS; slot += 1) receive(slot);

    const ping = spawn('ip', ['netns', 'exec', NAME, 'ping', '-c', '5', '-i', '0.2', '-W', '10', OURS.inner]);
    let output = '';
    for (const stream of [ping.stdout, ping.stderr]) stream.on('data', (text) => (output += String(text)));
    const ended = new Promise<number | null>((resolve) => ping.once('close', resolve));
    let status: number | null | undefined;
    void ended.then((code) => (status = code));
    const answered = { arp: 0, echo: 0 };
    while (status === undefined) {
      for (const { wrId, byteLen } of recvCq.poll(SLOTS)) {
        const at = Number(wrId) * SLOT;
        const frame = Buffer.from(mr.bytes.buffer, mr.bytes.byteOffset + at, byteLen);
        if (!answer(frame)) {
          receive(Number(wrId));
          continue;
        }
        answered[frame.readUInt16BE(12) === 0x0806 ? 'arp' : 'echo'] += 1;
        qp.postSend({ opcode: WrOpcode.SEND, wrId, sgList: [{ mr, offset: at, length: byteLen }] });
      }
      for (const { wrId } of sendCq.poll(SLOTS)) receive(Number(wrId));
      await sleep(1);
    }
    expect(output).toContain('5 received');
    expect(status).toBe(0);
    expect(answered.arp).toBeGreaterThan(0);
    expect(answered.echo).toBeGreaterThanOrEqual(5);
    for (const flow of flows) flow.close();
  },
);
