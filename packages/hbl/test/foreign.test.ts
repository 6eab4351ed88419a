import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { dropInDirectory } from '@verbs/soft';
import { expect, it } from 'vitest';
import { softModel } from '../src/index.js';

const program = fileURLToPath(new URL('../build/bin/foreign_program', import.meta.url));

it('a C program for libibverbs and libhbl runs unchanged: NULL pointers, stores in halves, overrun, stale objects', () => {
  const directory = dropInDirectory([softModel]);
  try {
    const env = { ...process.env, LD_LIBRARY_PATH: directory, VERBS_SOFT: 'hbl_0,kind=hbl' };
    const { status, stdout, stderr } = spawnSync(program, { env, encoding: 'utf8', timeout: 60_000 });
    const lines = [
      'NULL, stale and unreadable pointers are errors',
      'a doorbell in two halves is one doorbell',
      'an overrun is an asynchronous event',
      'all is closed',
    ];
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: `${lines.join('\n')}\n`, stderr: '' });
  } finally {
    rmSync(directory, { recursive: true });
  }
});
