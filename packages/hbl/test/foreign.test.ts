import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { dropInDirectory } from '@verbs/soft';
import { expect, it } from 'vitest';
import { softModel } from '../src/index.js';

/** Runs a C program of native/test/programs on a drop-in directory. */
function run(program: string, devices: string) {
  const path = fileURLToPath(new URL(`../build/bin/${program}`, import.meta.url));
  const directory = dropInDirectory([softModel]);
  try {
    const env = { ...process.env, LD_LIBRARY_PATH: directory, VERBS_SOFT: devices };
    const { status, stdout, stderr } = spawnSync(path, { env, encoding: 'utf8', timeout: 60_000 });
    return { status, stdout, stderr };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

it('a C program for libibverbs and libhbl runs unchanged: NULL pointers, stores in halves, overrun, stale objects', () => {
  const lines = [
    'NULL, stale and unreadable pointers are errors',
    'a doorbell in two halves is one doorbell',
    'nothing is waited for that cannot come',
    'an overrun is an asynchronous event',
    'all is closed',
  ];
  expect(run('foreign_program', 'hbl_0,kind=hbl')).toEqual({ status: 0, stdout: `${lines.join('\n')}\n`, stderr: '' });
});

it('libhbl finds the software NIC where libibverbs was loaded with RTLD_LOCAL', () => {
  expect(run('rtld_local', 'hbl_0,kind=hbl;soft0')).toEqual({ status: 0, stdout: 'hbl_0\n', stderr: '' });
});
