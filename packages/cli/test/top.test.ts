import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AccessFlags, type Context, openDevice, QpType, WrOpcode } from '@verbs/core';
import { configure, type ProcessReport, processes, softNic } from '@verbs/soft';
import { afterEach, describe, expect, it } from 'vitest';
import { Rates } from '../src/top/rates.js';
import { short, topLines } from '../src/top/table.js';
import { Verbs, VERBS, verbs } from './verbs.js';

afterEach(() => {
  configure(null);
});

function end(context: Context) {
  const pd = context.allocPd();
  const cq = context.createCq(16);
  const mr = pd.allocMr(4096, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
  const cap = { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 1, maxRecvSge: 1 };
  return { mr, qp: pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap }) };
}

/** Runs `work` while this process has a connection. */
async function connected(work: (send: () => Promise<unknown>) => Promise<void>): Promise<void> {
  configure('red,addr=127.77.5.1;blue,addr=127.77.5.2');
  using first = openDevice('red');
  using second = openDevice('blue');
  const [one, two] = [end(first), end(second)];
  const peers = [one.qp.endpoint(), two.qp.endpoint()] as const;
  one.qp.connect(peers[1]);
  two.qp.connect(peers[0]);
  await work(() =>
    one.qp.send({
      opcode: WrOpcode.RDMA_WRITE,
      sgList: [{ mr: one.mr, length: 100 }],
      remoteAddr: two.mr.addr,
      rkey: two.mr.rkey,
    }),
  );
}

const own = (all: readonly ProcessReport[]) => all.find(({ pid }) => pid === process.pid);

describe('processes()', () => {
  it('has the devices, ports, counters and queue pairs of a process', async () => {
    await connected(async (send) => {
      await send();
      const report = own(processes());
      expect(report?.devices.map(({ name, kind }) => [name, kind])).toEqual([
        ['red', 'roce'],
        ['blue', 'roce'],
      ]);
      const [red] = report?.devices ?? [];
      expect(red).toMatchObject({
        ports: [{ state: 'ACTIVE', mtu: 4096, gid: '::ffff:127.77.5.1' }],
        queuePairCount: 1,
      });
      expect(red?.counters['sent_pkts']).toBeGreaterThan(0n);
      expect(Object.keys(red?.counters ?? {})).toEqual(Object.keys(softNic('red').stats()));
      expect(red?.queuePairs).toMatchObject([
        {
          type: 'RC',
          state: 'RTS',
          destGid: '::ffff:127.77.5.2',
          postedSends: 0,
          inFlight: 0,
          retransmittedPackets: 0n,
        },
      ]);
    });
    expect(own(processes())).toBeUndefined();
  });
});

describe('verbs top', () => {
  it.each(['q', '\x03'])('draws on a terminal until the key %j', async (key) => {
    // script(1) gives it a terminal. A shell that stayed between would be interrupted as well, and leave with 130.
    const command = `exec ${process.execPath} ${VERBS} top`;
    const env = { ...process.env, TERM: 'xterm', SHELL: '/bin/sh' };
    const child = spawn('script', ['-qefc', command, '/dev/null'], { env });
    let seen = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (seen += text));
    await expect.poll(() => seen, { timeout: 10_000 }).toContain('q leaves');
    child.stdin.write(key);
    expect(await once(child, 'close')).toEqual([0, null]);
    // The cursor is back, and what was on the terminal.
    expect(seen).toContain('\x1b[?25h\x1b[?1049l');
  });

  it('prints the rates of other processes, once, in 80 columns', async () => {
    await connected(async (send) => {
      const running = verbs(['top']);
      const done = new AbortController();
      const load = (async () => {
        while (!done.signal.aborted) await send();
      })();
      const { status, stdout } = await running;
      done.abort();
      await load;
      expect(status).toBe(0);
      expect(stdout).toMatch(new RegExp(`^\\S.* \\(${process.pid}\\)$`, 'm'));
      expect(stdout).toMatch(/^ {2}red {2}ACTIVE {2}MTU 4096 {2}127\.77\.5\.1$/m);
      expect(stdout).toMatch(/^ {4}0x[0-9a-f]+ +RC +RTS +[\d.]+k? .*127\.77\.5\.2 0x[0-9a-f]+$/m);
      for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    });
  });

  it('calls a program of Node.js by its script, in JSON and on the terminal', async () => {
    const server = new Verbs(['ping', '-s', '-p', '0'], { VERBS_SOFT: 'green,addr=127.77.5.3' });
    await server.until(/port \d+/);
    const pid = server.process.pid ?? 0;
    // Until a sample has it: a process that gets no processor for 300 ms is left out of one.
    const watching = new Verbs(['top', '--json', '-i', '0.1']);
    await watching.until(new RegExp(`"pid":${pid},"name":"verbs\\.mjs","program":"`));
    for (const each of [watching, server]) each.kill('SIGINT');
    await Promise.all([watching.outcome(), server.outcome()]);
    const lines = topLines([{ pid, name: 'verbs.mjs', program: 'node', devices: [] }], {
      columns: 80,
      paint: (_style, text) => text,
    });
    expect(lines).toEqual([`verbs.mjs (${pid})`]);
  });

  it('makes the names of foreign programs harmless, as stat does, and keeps them for programs', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'verbs-top-test-'));
    try {
      // Of 15 bytes at most; the kernel has it in place of the arguments, too.
      const title = 'Grö\u001b[\u009b\u202e';
      const shown = 'Grö\\x1b[\\x9b\\u202e';
      const script = join(folder, 'program.mjs');
      const core = import.meta.resolve('@verbs/core');
      writeFileSync(
        script,
        `process.title = ${JSON.stringify(title)}; const { openDevice } = await import(${JSON.stringify(core)});
        openDevice(); console.log('open'); setInterval(() => {}, 1000);`,
      );
      const program = spawn(process.execPath, [script], {
        env: { ...process.env, VERBS_SOFT: 'red,addr=127.77.5.4' },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        await once(program.stdout, 'data');
        const top = await verbs(['top', '-n', '1', '-i', '0.1']);
        const stat = await verbs(['stat', '-p', String(program.pid)]);
        const json = await verbs(['stat', '-p', String(program.pid), '--json']);
        expect(top.stdout).toContain(`${shown} (${program.pid})`);
        expect(stat.stdout).toContain(`link red pid ${program.pid} comm ${shown}\n`);
        for (const { stdout } of [top, stat, json])
          // eslint-disable-next-line no-control-regex -- what no terminal may get
          expect(stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
        expect(JSON.parse(json.stdout)).toMatchObject([{ program: title }]);
      } finally {
        program.kill('SIGKILL');
        await once(program, 'exit');
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('looks ten times a second at most', async () => {
    const { status, stderr } = await verbs(['top', '-n', '1', '-i', '0']);
    expect(status).toBe(2);
    expect(stderr).toContain('seconds from 0.1 to 86400 are needed');
  });

  it('prints a JSON document for each sample', async () => {
    await connected(async () => {
      const { stdout } = await verbs(['top', '--json', '-n', '2', '-i', '0.1']);
      const samples = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { processes: { pid: number }[] });
      expect(samples).toHaveLength(2);
      for (const sample of samples) expect(sample.processes.map(({ pid }) => pid)).toContain(process.pid);
      await Promise.resolve();
    });
  });
});

describe('verbs stat', () => {
  it('prints the counters of a process', async () => {
    await connected(async (send) => {
      await send();
      const { stdout } = await verbs(['stat', '-p', String(process.pid), '-d', 'red']);
      expect(stdout).toMatch(new RegExp(`^link red pid ${process.pid} comm \\S+$`, 'm'));
      expect(stdout.replace(/\s+/g, ' ')).toMatch(/ rdma_sends 1 /);
      const { stdout: json } = await verbs(['stat', '--json', '-d', 'red']);
      expect(JSON.parse(json)).toContainEqual(
        expect.objectContaining({
          pid: process.pid,
          counters: expect.objectContaining({ rdma_sends: '1' }) as unknown,
        }),
      );
      const none = await verbs(['stat', '-p', String(process.pid), '-d', 'green']);
      expect([none.status, none.stderr]).toMatchObject([1, expect.stringContaining('red of ')]);
    });
  });
});

describe('rates', () => {
  const at = (sent: bigint, psn: number, retransmitted = 0n): ProcessReport[] => [
    {
      pid: 7,
      name: 'test',
      program: 'test',
      devices: [
        {
          ...{ name: 'a', kind: 'roce', ports: [], counters: { sent_pkts: sent }, queuePairCount: 1 },
          ...{ pdCount: 1, cqCount: 1, mrCount: 1, srqCount: 0, contextCount: 1, reasons: [] },
          queuePairs: [
            {
              ...{
                qpNum: 17,
                type: 'RC',
                state: 'RTS',
                destQpNum: 18,
                destGid: '::1',
                postedSends: 0,
                postedReceives: 0,
              },
              ...{
                window: 32,
                inFlight: 5,
                sentPsn: psn,
                receivedPsn: 0,
                retransmittedPackets: retransmitted,
                rnrNaks: 0n,
              },
              ...{ roundTripNs: 12_000n, recovering: false, waitingRnr: false },
            },
          ],
        },
      ],
    },
  ];

  it('are differences by time, also where PSNs go around', () => {
    const rates = new Rates();
    expect(rates.next(at(100n, 0xfffff0), 1000)[0]?.devices[0]?.perSecond).toBeUndefined();
    const [process] = rates.next(at(1100n, 0x10, 4n), 1500);
    expect(process?.devices[0]?.perSecond).toEqual({ sent_pkts: 2000 });
    expect(process?.devices[0]?.queuePairs[0]).toMatchObject({
      sentPacketsPerSecond: 64,
      receivedPacketsPerSecond: 0,
      retransmittedPacketsPerSecond: 8,
    });
    const lines = topLines(
      [process].filter((each) => each !== undefined),
      { columns: 60, rows: 4, paint: (_, text) => text },
    );
    expect(lines).toHaveLength(4);
    expect(lines.at(-1)).toBe('… 3 more lines');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
  });

  it.each([
    [0, '0'],
    [0.25, '0.3'],
    [999, '999'],
    [1000, '1.0k'],
    [99_960, '100k'],
    [999_600, '1.0M'],
    [12_345_678_901, '12G'],
  ])('%d is %s', (value, text) => {
    expect(short(value)).toBe(text);
  });
});
