import { execFileSync } from 'node:child_process';
import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { softModel } from '../dist/index.js';
import { foreign } from './helpers/program.js';

function symbols(file: string): string[] {
  const path = join(softModel.dropIn, file);
  expect(lstatSync(path).isFile()).toBe(true);
  const lines = execFileSync('nm', ['-D', '--defined-only', path], { encoding: 'utf8' }).split('\n');
  return lines.map((line) => line.split(' ')[2] ?? '').filter((name) => name.startsWith('doca_'));
}

function declared(header: string): string[] {
  const text = readFileSync(new URL(`../native/include/${header}`, import.meta.url), 'utf8');
  return [...text.matchAll(/\b(doca_\w+)\((?=struct|const|int|uint|doca_error)/g)].map(([, name]) => name ?? '');
}

test('every function of the channel is exported under EXPERIMENTAL, and nothing else', () => {
  const names = declared('doca_comm_channel.h');
  expect(names).toHaveLength(37);
  expect(symbols('libdoca_comm_channel.so.2').sort()).toEqual(names.map((name) => `${name}@@EXPERIMENTAL`).sort());
});

test('devices and error texts are exported in both spellings, each under its node', () => {
  const found = symbols('libdoca_common.so.2');
  for (const name of [...declared('doca_dev.h'), ...declared('doca_error.h')]) {
    expect(found.filter((symbol) => symbol.startsWith(`${name}@`))).not.toEqual([]);
  }
  expect(found).toEqual(
    expect.arrayContaining([
      'doca_devinfo_list_create@@EXPERIMENTAL',
      'doca_devinfo_create_list@@DOCA_2',
      'doca_get_error_name@@EXPERIMENTAL',
      'doca_error_get_name@@DOCA_2',
      'doca_dev_open@@DOCA_2',
      'doca_dev_open@EXPERIMENTAL',
    ]),
  );
});

test('a C program written against the prototypes, bound to EXPERIMENTAL, asks and gets its reply', async () => {
  const service = foreign('request_reply', ['service', 'classic']);
  await service.says('listening');
  const client = foreign('request_reply', ['client', 'classic', 'a question']);
  expect(await client.ended).toBe(0);
  expect(client.output()).toBe('client got: reply to a question\n');
  expect(await service.ended).toBe(0);
  expect(service.output()).toBe('listening\nservice got: a question\nthen: DOCA_ERROR_CONNECTION_RESET\n');
});

test('a C program that finds no service says CONNECTION_ABORTED', async () => {
  const client = foreign('request_reply', ['client', 'nobody is there', 'x']);
  expect(await client.ended).toBe(1);
  expect(client.output()).toContain('DOCA_ERROR_CONNECTION_ABORTED');
});
