// The short form of `npm run trial interop`: one boot, RC, UC and UD both ways, IPv4 and IPv6, and every frame checked.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { interopReport } from '../src/interop-report.mjs';

interface Report {
  ok: boolean;
  wire: { frames: number; findings: string[] };
  results: { name: string; family: number; direction: string; failure: string | null }[];
}

const program = join(import.meta.dirname, '../bin/interop.mjs');
const checker = join(import.meta.dirname, '../python/check_wire.py');
const folder = mkdtempSync(join(tmpdir(), 'verbs-wire-'));

afterAll(() => {
  rmSync(folder, { recursive: true });
});

it('speaks with the kernel in both directions, and says nothing wrong', { timeout: 1_000_000 }, () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, '--quick', '--json'], { encoding: 'utf8' });
  expect(stderr).not.toContain('Error');
  const report = JSON.parse(stdout) as Report;
  expect(report.results.filter(({ failure }) => failure !== null)).toEqual([]);
  expect(report.wire.findings).toEqual([]);
  expect(report.wire.frames).toBeGreaterThan(1000);
  expect(new Set(report.results.map(({ family, direction }) => `${family} ${direction}`)).size).toBe(4);
  expect(report.results).toHaveLength(16);
  expect(status).toBe(0);
});

// A SEND of 4 bytes over IPv4, whose ICRC is 0.
const ETHERNET = '525400123457525400123456' + '0800';
const FRAME =
  ETHERNET +
  '4500003000004000401100000a4d00020a4d0001' + // 10.77.0.2 to 10.77.0.1
  'c00012b7001c0000' +
  '0400ffff00000011800000010102030400000000';

function captureOf(frame: Buffer) {
  const header = Buffer.from('d4c3b2a1020004000000000000000000ffff000001000000', 'hex');
  const record = Buffer.alloc(16);
  record.writeUInt32LE(frame.length, 8);
  record.writeUInt32LE(frame.length, 12);
  const file = join(folder, 'wire.pcap');
  writeFileSync(file, Buffer.concat([header, record, frame]));
  return file;
}

function check(frame: Buffer) {
  const { stdout, stderr } = spawnSync('/usr/bin/python3', [checker, captureOf(frame)], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return JSON.parse(stdout) as { frames: number; findings: string[] };
}

it('finds a frame whose ICRC is wrong, and what is malformed', () => {
  const frame = Buffer.from(FRAME, 'hex');
  expect(check(frame)).toMatchObject({ frames: 1, findings: [expect.stringMatching(/the ICRC is wrong/)] });
  frame[14 + 20 + 8] = 0x1f; // no such opcode
  expect(check(frame).findings.join()).toMatch(/opcode 0x1f/);
  expect(readFileSync(join(folder, 'wire.pcap')).length).toBe(40 + frame.length);
});

it('fails when something failed, or nothing ran', () => {
  const wire = { frames: 5, findings: [] };
  const good = { part: 'cases', name: 'rc send', family: 4, direction: 'ours to rxe', failure: null } as const;
  expect(interopReport([good], wire, '6.1').ok).toBe(true);
  expect(interopReport([], wire, '6.1').ok).toBe(false);
  expect(interopReport([good], { frames: 5, findings: ['frame 1'] }, '6.1').ok).toBe(false);
  const bad = interopReport([good, { ...good, failure: 'no completion' }], wire, '6.1');
  expect(bad.ok).toBe(false);
  expect(bad.text).toContain('FAILED cases, ours to rxe, IPv4: rc send: no completion');
  expect(bad.text).toContain('1 of 2 passed');
});
