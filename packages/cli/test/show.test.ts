import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WrOpcode } from '@verbs/core';
import { configure } from '@verbs/soft';
import { describe, expect, it } from 'vitest';
import { packetsOf } from '../browser/packet.js';
import { analyze } from '../src/show/analyze.js';
import { pageData } from '../src/show/page-data.js';
import type { PageData } from '../src/show/page-row.js';
import { bytesOf, invariantCrc, RcCapture, SEND_ONLY } from './rc-capture.js';
import { captures, type Ends, place, read, record } from './recorded.js';
import { verbs } from './verbs.js';

captures();

describe('verbs show', () => {
  const write = async ({ requester, responder, pair }: Ends) => {
    const remote = { remoteAddr: responder.mr.addr, rkey: responder.mr.rkey };
    for (const qp of [pair()[0], pair()[0]])
      await qp?.send({ opcode: WrOpcode.RDMA_WRITE, sgList: [{ mr: requester.mr, length: 20 }], ...remote });
  };

  it('prints a line for each packet, in 80 columns and without colour', async () => {
    await record(write);
    const { status, stdout } = await verbs(['show', place.file]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^pair 1 {2}RC {2}127\.77\.4\.1 QP 0x[0-9a-f]+ > 127\.77\.4\.2 QP 0x[0-9a-f]+$/m);
    expect(stdout).toMatch(/^ +1 +0\.000 {2}1 --> {2}RC RDMA WRITE Only {2}PSN 0x[0-9a-f]+ {2}20 bytes$/m);
    expect(stdout).toMatch(/^ +2 +[\d.]+ {2}1 +<-- RC Acknowledge {2}PSN 0x[0-9a-f]+ {2}ACK$/m);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(stdout).not.toContain('\u001b');
  });

  it('explains a packet field by field, and takes one queue pair', async () => {
    const { pairs } = await record(write);
    const { stdout } = await verbs(['show', '-p', '1', place.file]);
    expect(stdout).toMatch(/^ {4}virtual address +64 bits +0x[0-9a-f]{16} +remoteAddr of the work request$/m);
    expect(stdout).not.toMatch(/RC Acknowledge {2}PSN/);
    const qpn = pairs[1]?.ends[0].qpn ?? 0;
    const json = await verbs(['show', '--qp', `0x${qpn.toString(16)}`, '--json', place.file]);
    const course = JSON.parse(json.stdout) as { pairs: { ends: { qpn: number }[] }[]; packets: { pair: number }[] };
    expect(course.pairs.map(({ ends }) => ends[0]?.qpn)).toEqual([qpn]);
    expect(course.packets.map(({ pair }) => pair)).toEqual([1, 1]);
    const late = await verbs(['show', '-p', '99', place.file]);
    expect(late).toMatchObject({ status: 1, stdout: '' });
    expect(late.stderr).toMatch(/has no packet 99\n {2}the last one is 4$/m);
    const none = await verbs(['show', '--qp', '0xffffff', place.file]);
    expect([none.status, none.stderr]).toMatchObject([1, expect.stringContaining(`0x${qpn.toString(16)}`)]);
  });

  it('goes through tunnels', async () => {
    configure('hbl_0,kind=hbl,ports=1,link=process;hbl_1,kind=hbl,ports=1,link=process');
    const { deliver } = await import('@verbs/lib/tunnel');
    const keep = new AbortController();
    const { packets } = await deliver('gre', 'hello', keep.signal);
    {
      using capture = new RcCapture(place.file);
      for (const { data } of packets) capture.frame(data, { direction: 'sent', time: 0n });
    }
    const { stdout } = await verbs(['show', '-v', place.file]);
    expect(stdout).toMatch(/^pair 1 {2}RC .* through GRE$/m);
    expect(stdout).toMatch(/^ {2}GRE: 4 bytes from 20/m);
    expect(stdout).toMatch(/ {2}"hello"/);
  });

  it("explains the headers behind one of the user's own, which only the checksum at the end tells", async () => {
    const ends = { from: '127.0.0.1', to: '127.0.0.2', destQpn: 0x11, direction: 'sent' as const, time: 0n };
    const plain = bytesOf({ ...ends, opcode: SEND_ONLY, psn: 1, payload: 400 });
    const [OWN, VXLAN] = [12, 4789];
    plain.writeUInt16BE(VXLAN, 22);
    for (const length of [2, 24]) plain.writeUInt16BE(plain.readUInt16BE(length) + OWN, length);
    plain.writeUInt32LE(invariantCrc(plain), plain.length - 4);
    {
      using capture = new RcCapture(place.file);
      capture.frame(Buffer.concat([plain.subarray(0, 28), Buffer.alloc(OWN, 0xab), plain.subarray(28)]), ends);
    }
    const { stdout } = await verbs(['show', '-v', place.file]);
    expect(stdout).toMatch(/^pair 1 {2}RC .* through tunnel$/m);
    expect(stdout).toMatch(/^ {2}tunnel header: 12 bytes from 28/m);
    expect(stdout).toMatch(/^ {2}BTH: 12 bytes from 40/m);
  });

  it('writes a page that needs no other file and survives any name', async () => {
    const course = await record(write);
    const page = join(place.directory, 'page.html');
    const { status, stdout, stderr } = await verbs(['show', place.file, '-o', page]);
    expect([status, stdout]).toEqual([0, '']);
    expect(stderr).toContain('4 packets of 2 pairs');
    const same = await verbs(['show', place.file, '-o', place.file]);
    expect([same.status, same.stderr]).toMatchObject([2, expect.stringContaining('are the same file')]);
    expect(read(place.file).all).toHaveLength(4);
    const text = readFileSync(page, 'utf8');
    expect(text).not.toMatch(/(src|href)=["']?http/);
    expect(text.match(/<script/g)).toHaveLength(2);
    const data = JSON.parse(
      /<script type="application\/json" id="data">(.*)<\/script>/.exec(text)?.[1] ?? '',
    ) as PageData;
    expect(data).toEqual(JSON.parse(JSON.stringify(pageData({ ...course, file: 'run.pcapng' }))));
    expect(packetsOf(data)[0]).toMatchObject({
      name: 'RC RDMA WRITE Only',
      role: 'write',
      from: 0,
      link: 'ip',
      at: 28,
    });
  });

  it.each([
    ['no capture at all', 'is neither a pcap nor a pcapng file'],
    ['', 'is empty'],
  ])('refuses %j', async (content, message) => {
    writeFileSync(place.file, content);
    const { status, stderr } = await verbs(['show', place.file]);
    expect([status, stderr]).toMatchObject([1, expect.stringContaining(message)]);
  });

  it('says of a file that was cut off that it was, with packets or without', async () => {
    await record(write);
    const whole = readFileSync(place.file);
    writeFileSync(place.file, whole.subarray(0, -3));
    const most = await verbs(['show', place.file]);
    expect([most.status, most.stdout]).toMatchObject([0, expect.stringContaining('ends in the middle of a packet')]);
    writeFileSync(place.file, whole.subarray(0, 300));
    const none = await verbs(['show', place.file]);
    expect([none.status, none.stderr]).toMatchObject([
      1,
      expect.stringMatching(/is cut off in front of its first packet/),
    ]);
  });

  it('is what verbs run --show ends with', async () => {
    const { status, stderr } = await verbs(['run', '--show', '--capture', place.file, '--', 'ibv_devinfo'], {
      VERBS_SOFT: 'soft0,addr=127.77.4.3',
    });
    expect(stderr).toContain(join(place.directory, 'run.html'));
    expect(status).toBe(0);
  });
});

describe('the reasons of the software NIC in a capture', () => {
  const program = fileURLToPath(new URL('programs/refused.mjs', import.meta.url));

  it('are told at the packets that were dropped and refused, and in no other capture', async () => {
    const capture = ['capture', '--json', '-o', place.file, '--', process.execPath, program];
    const { stdout, status } = await verbs(capture, { VERBS_SOFT: 'soft0,addr=127.77.4.9' });
    expect(status).toBe(0);
    expect(stdout).toMatch(/^WC_REM_ACCESS_ERR\n/);
    // They are no packets, and no section of a process.
    expect(JSON.parse(stdout.slice(stdout.indexOf('{')))).toMatchObject({ sections: 1, packets: 6 });
    using course = analyze(place.file);
    expect([...course.packets()].map(({ name, notes }) => [name, notes])).toEqual([
      ['UD SEND Only', ['dropped: the datagram has the Q_Key 0x1111, and the queue pair has 0x2222']],
      [
        'RC RDMA WRITE Only',
        [expect.stringMatching(/^refused: access of the region of R_Key 0x\w+ lacks REMOTE_WRITE/)],
      ],
      ['RC Acknowledge', ['NAK: remote access error']],
    ]);
    const shown = await verbs(['show', place.file]);
    expect(shown.stdout).toContain('dropped: the datagram has the Q_Key');
  });

  it('leave the file of the user alone, and no part in a capture without any', async () => {
    const why = join(place.directory, 'why');
    writeFileSync(why, '');
    const env = { VERBS_SOFT: 'soft0,addr=127.77.4.9', VERBS_SOFT_WHY: why };
    await verbs(['run', '--capture', place.file, '--', process.execPath, program], env);
    expect(readFileSync(why, 'utf8')).toContain('drop_qkey');
    using course = analyze(place.file);
    expect([...course.packets()].flatMap(({ notes }) => notes)).toEqual(['NAK: remote access error']);
  });

  it('of a damaged or foreign journal are ignored', async () => {
    await verbs(['capture', '-o', place.file, '--', process.execPath, program], {
      VERBS_SOFT: 'soft0,addr=127.77.4.9',
    });
    const bytes = readFileSync(place.file);
    const at = bytes.indexOf('VERBS_REASON={');
    bytes.write('VERBS_REASON=[', at);
    writeFileSync(place.file, bytes);
    using course = analyze(place.file);
    expect([...course.packets()].flatMap(({ notes }) => notes)).toHaveLength(2);
  });
});
