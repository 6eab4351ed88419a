import { execFileSync } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { softModel } from '../src/index.js';

const FUNCTIONS = [
  'create_cq',
  'create_encap',
  'create_usr_fifo',
  'destroy_encap',
  'destroy_usr_fifo',
  'is_supported',
  'modify_qp',
  'open_device',
  'query_cq',
  'query_device',
  'query_port',
  'query_qp',
  'set_port_ex',
];

function symbols(path: string): string[] {
  const lines = execFileSync('nm', ['-D', '--defined-only', path], { encoding: 'utf8' }).trim().split('\n');
  // Lines of type A name the version nodes themselves.
  return lines.flatMap((line) => (/ [TR] (\S+)$/.exec(line)?.[1] ? [/ [TR] (\S+)$/.exec(line)?.[1] ?? ''] : [])).sort();
}

it('libhbl.so.1 exports exactly the 13 functions with their version node, and the marker', () => {
  const path = join(softModel.dropIn, 'libhbl.so.1');
  expect(lstatSync(path).isFile()).toBe(true);
  const expected = FUNCTIONS.map((name) => `hbldv_${name}@@HBL_1.0`);
  expect(symbols(path)).toEqual([...expected, 'verbs_soft_marker@@VERBS_SOFT_1.0'].sort());
});

it('the model is a regular file too, with a name of its own', () => {
  expect(lstatSync(softModel.library).isFile()).toBe(true);
  expect(symbols(softModel.library)).toContain('hbldv_create_encap@@HBL_1.0');
});
