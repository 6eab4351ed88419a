import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { softModel } from '@verbs/rdmacm';
import { dropInDirectory } from '@verbs/soft';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pathOf, Program } from './program.js';

const DONE = { status: 0, stderr: '' };
let directory = '';
let libraries = '';
let server: Program | undefined;
let where: [host: string, port: string] = ['', ''];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'kv-'));
  libraries = dropInDirectory([softModel]);
  execFileSync('cc', [
    '-Wall',
    '-Werror',
    '-o',
    join(directory, 'kv'),
    pathOf('programs/kv/kv.c'),
    '-lrdmacm',
    '-libverbs',
  ]);
  server = new Program('programs/kv', ['serve', '--port', '0']);
  const [, host = '', port = ''] = await server.until(/serving 1024 slots on (\S+) port (\d+)/);
  where = [host, port];
});

afterAll(async () => {
  server?.process.kill();
  await server?.outcome();
  rmSync(directory, { recursive: true, force: true });
  rmSync(libraries, { recursive: true, force: true });
});

/** The client in each language, with the arguments behind the server's address. */
const clients = {
  TypeScript: (...args: string[]) => new Program('programs/kv', [...args, '--host', where[0], '--port', where[1]]),
  C: (...args: string[]) => foreign(join(directory, 'kv'), ...where, ...args),
  Python: (...args: string[]) => foreign('/usr/bin/python3', pathOf('programs/kv/kv.py'), ...where, ...args),
};

function foreign(program: string, ...args: string[]): Program {
  return new Program(program as `/${string}`, args, { env: { LD_LIBRARY_PATH: libraries } });
}

describe.each(Object.entries(clients))('kv: a client in %s', { timeout: 120_000 }, (language, client) => {
  const others = Object.values(clients).filter((other) => other !== client);

  it('stores a value that all languages find', async () => {
    expect(await client('put', language, 'grün').outcome()).toMatchObject(DONE);
    for (const find of [client, ...others]) {
      expect(await find('get', language).outcome()).toEqual({ ...DONE, stdout: 'grün\n' });
    }
  });

  it('replaces what another language has stored', async () => {
    for (const other of others) {
      expect(await other('put', `${language} reads`, 'old').outcome()).toMatchObject(DONE);
      expect(await client('put', `${language} reads`, 'newer').outcome()).toMatchObject(DONE);
      expect(await other('get', `${language} reads`).outcome()).toEqual({ ...DONE, stdout: 'newer\n' });
    }
  });

  it('does not find what nobody has stored', async () => {
    expect(await client('get', `${language} lost`).outcome()).toMatchObject({ status: 1, stdout: '' });
  });
});

it('kv: writers in all languages at once do not mix', { timeout: 120_000 }, async () => {
  const values = Object.keys(clients).map((language) => language.padEnd(200, language));
  const writers = Object.values(clients).map((client, index) => client('put', 'shared', values[index] ?? '').outcome());
  for (const writer of await Promise.all(writers)) expect(writer).toMatchObject(DONE);
  const { stdout } = await clients.C('get', 'shared').outcome();
  expect(values).toContain(stdout.trim());
});

it('kv: a wrong command has the usage', async () => {
  expect(await clients.TypeScript('lose', 'colour').outcome()).toMatchObject({ status: 2 });
  expect(await clients.C('lose', 'colour').outcome()).toMatchObject({ status: 2 });
});
