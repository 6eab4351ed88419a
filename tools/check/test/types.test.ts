import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { projectChecker } from '../src/types/project-checker.mjs';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'verbs-types-test-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

it('checks a file that two projects share by the options of each', () => {
  const shared = write('shared.ts', 'export const length = (text: string | null) => text.length;\n');
  const strict = project('strict', { strict: true, types: [] }, shared);
  const loose = project('loose', { strict: false, types: [] }, shared);
  const check = projectChecker();
  expect(check(loose)).toEqual({ files: 1, errors: [] });
  const { errors } = check(strict);
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatch(/shared\.ts\(1,\d+\): error TS18047: 'text' is possibly 'null'/);
}, 60_000);

it('reports the JavaScript of a project that checks it, and a configuration that cannot be read', () => {
  const script = write('script.mjs', '/** @type {number} */\nexport const count = "one";\n');
  const check = projectChecker();
  expect(check(project('read', { allowJs: true, types: [] }, script)).errors).toEqual([]);
  const { errors } = check(project('checked', { allowJs: true, checkJs: true, types: [] }, script));
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatch(/script\.mjs\(2,14\): error TS2322/);
  expect(check(project('empty', {}, 'missing.ts')).errors[0]).toMatch(/TS6053/);
  expect(check(join(folder, 'nowhere/tsconfig.json')).errors).toHaveLength(1);
}, 60_000);

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function project(name: string, options: object, file: string): string {
  mkdirSync(join(folder, name));
  const compilerOptions = {
    target: 'ES2023',
    module: 'NodeNext',
    moduleResolution: 'NodeNext',
    noEmit: true,
    ...options,
  };
  return write(join(name, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
}
