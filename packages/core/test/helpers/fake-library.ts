import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { library as softLibrary } from '@verbs/soft';
import { native, type NativeHandle } from '../../src/base/native.js';
import { Context } from '../../src/device/context.js';
import { listDevices } from '../../src/index.js';

/** A libibverbs of the test's own: C functions in front of those of the software NIC. */
export interface FakeLibrary {
  /** C source of the functions. `SOFT` is the path of the library behind them. */
  source: string;
  /** The functions that it exports, of one version. */
  exports: { version: string; functions: string[] };
}

/** Compiles it; removed after the test. */
export function fakeLibrary({ source, exports: { version, functions } }: FakeLibrary): string {
  const folder = mkdtempSync(join(tmpdir(), 'verbs-fake-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const [code, map, library] = ['fake.c', 'fake.map', 'libibverbs.so.1'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(code, source);
  writeFileSync(map, `${version} { global: ${functions.join('; ')}; local: *; };\n`);
  execFileSync('gcc', [
    ...['-shared', '-fPIC', '-o', library, code, `-DSOFT="${softLibrary}"`],
    ...[`-Wl,--version-script=${map}`, '-Wl,--no-as-needed', `-Wl,-rpath,${dirname(softLibrary)}`, softLibrary],
  ]);
  return library;
}

/** The native handle of the software NIC, opened through that library. */
export function openHandle(library: string): NativeHandle {
  const { handle, reason } = native.openLibrary(library);
  if (handle === undefined) throw new Error(reason);
  const context = native.openDevice(handle, 'soft0');
  if (typeof context === 'number') throw new Error(`ibv_open_device: ${context}`);
  return context;
}

/** The software NIC, opened through that library. The caller closes it. */
export function openThrough(library: string): Context {
  const device = listDevices({ library: 'soft' }).find(({ name }) => name === 'soft0');
  if (device === undefined) throw new Error('there is no soft0');
  return new Context(device, openHandle(library));
}
