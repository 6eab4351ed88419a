import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { headerFunctions, librarySymbols } from '../src/c-functions.mjs';
import { publicMembers } from '../src/declarations.mjs';
import { markdown } from '../src/document.mjs';

const directory = mkdtempSync(join(tmpdir(), 'verbs-coverage-test-'));
afterAll(() => {
  rmSync(directory, { recursive: true });
});

const plan = {
  title: 't',
  headers: [join(directory, 'some.h')],
  declaredIn: 'some.h',
  match: '^some_',
  libraries: [join(directory, 'libsome.so'), join(directory, 'absent.so')],
  addon: '',
  declarations: '',
  document: '',
  functions: {},
  notExposed: {},
  helpers: {},
};

describe('the functions of a header', () => {
  it('are those that it declares and those that it has inline, by their prefix', () => {
    const text = 'int some_one(void);\nstatic inline int some_two(int x) { return x; }\nint other(void);\n';
    writeFileSync(join(directory, 'some.h'), text.concat('#include <string.h>\n'));
    expect(headerFunctions(plan)).toEqual(new Set(['some_one', 'some_two']));
  });
});

describe('the symbols of a library', () => {
  it('are the public functions, and a library that is not there is told', () => {
    const source = join(directory, 'some.c');
    writeFileSync(
      source,
      'int some_one(void) { return 1; }\nstatic int some_hidden(void) { return 2; }\nint some_data = 3;\nint other(void) { return some_hidden(); }\n',
    );
    execFileSync('gcc', ['-shared', '-fPIC', '-o', join(directory, 'libsome.so'), source]);
    expect(librarySymbols(plan)).toEqual({ names: new Set(['some_one']), missing: [join(directory, 'absent.so')] });
  });
});

describe('the declarations', () => {
  it('are functions, classes and their public members, inherited ones too, with what they say', () => {
    const file = join(directory, 'index.d.ts');
    const text = [
      'declare class Base {',
      '  close(): void;',
      '}',
      '/** A class. */',
      'export declare class Thing extends Base {',
      '  private secret;',
      '  /** Does `some_one`. */',
      '  run(): void;',
      '}',
      '/** A function. */',
      'export declare function make(): Thing;',
      'declare function inner(): void;',
      'declare namespace space { const Again: typeof Thing; export { inner, Thing as Other, Again }; }',
      'export { space };',
    ];
    writeFileSync(file, text.join('\n'));
    const members = publicMembers(file);
    expect(members.get('Thing.run')).toBe('Does `some_one`.');
    expect(members.get('make')).toBe('A function.');
    expect(members.has('Thing.close')).toBe(true);
    expect(members.has('space.inner')).toBe(true);
    expect([members.get('space.Other.run'), members.get('space.Again.run')]).toEqual(Array(2).fill('Does `some_one`.'));
    expect([members.has('Base'), members.has('Thing.secret')]).toEqual([false, false]);
  });
});

it('the document has both tables', () => {
  const text = markdown('Title', {
    rows: [
      { name: 'some_one', api: ['make', 'Thing.run'], inline: false },
      { name: 'some_two', api: [], reason: 'no use', inline: true },
    ],
    problems: [],
    missing: [],
  });
  expect(text).toContain('2 functions: 1 exposed, 1 not.');
  expect(text).toContain('| `some_one` | `make`, `Thing.run` |');
  expect(text).toContain('| `some_two` | no use |');
});
