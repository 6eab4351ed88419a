import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { functionsOf, headerFunctions, librarySymbols, mapFunctions } from '../src/api-coverage/c-functions.mjs';
import { cover } from '../src/api-coverage/cover.mjs';
import { publicMembers } from '../src/api-coverage/declarations.mjs';
import { markdown } from '../src/api-coverage/document.mjs';

const directory = mkdtempSync(join(tmpdir(), 'verbs-coverage-test-'));
afterAll(() => {
  rmSync(directory, { recursive: true });
});

const plan = {
  title: 't',
  release: '1.0',
  headers: [join(directory, 'some.h')],
  declaredIn: 'some.h',
  match: '^some_',
  hidden: 'PRIVATE',
  dropIn: 'libsome.so',
  installed: join(directory, 'absent.so'),
  addon: 'addon.cjs',
  declarations: 'thing.d.ts',
  document: '',
  functions: {},
  notExposed: {},
  helpers: {},
};

function library(name: string, source: string, ...options: string[]): string {
  const [file, path] = [join(directory, `${name}.c`), join(directory, name)];
  writeFileSync(file, source);
  execFileSync('gcc', ['-shared', '-fPIC', '-o', path, file, ...options]);
  return path;
}

describe('the functions of a header', () => {
  it('are those that it declares and those that it has inline, by their prefix', () => {
    const text = 'int some_one(void);\nstatic inline int some_two(int x) { return x; }\nint other(void);\n';
    writeFileSync(join(directory, 'some.h'), text.concat('#include <string.h>\n'));
    expect(headerFunctions(plan)).toEqual(new Set(['some_one', 'some_two']));
  });
});

const VERSIONS = `/* A comment; with { braces }. */
SOME_1.0 { global: some_one; some_two; local: *; };
SOME_1.1 {
	global:
		some_three;
} SOME_1.0;
SOME_PRIVATE_34 {
	global:
		some_private;
	local: *;
};
`;

describe('the functions of a library', () => {
  it('are those that it exports', () => {
    const path = library(
      'libplain.so',
      'int some_one(void) { return 1; }\nstatic int some_hidden(void) { return 2; }\nint some_data = 3;\nint other(void) { return some_hidden(); }\n',
    );
    expect(librarySymbols(plan, path)).toEqual(new Set(['some_one']));
  });

  it('are those of public nodes, in the library and in its map file alike', () => {
    const map = join(directory, 'some.map');
    writeFileSync(map, VERSIONS);
    const names = ['one', 'two', 'three', 'private'];
    const source = names.map((name) => `int some_${name}(void) { return 0; }\n`).join('');
    const path = library('libversions.so', source, `-Wl,--version-script=${map}`);
    const expected = new Set(['some_one', 'some_two', 'some_three']);
    expect(librarySymbols(plan, path)).toEqual(expected);
    expect(mapFunctions(plan, VERSIONS)).toEqual(expected);
    expect([functionsOf(plan, path), functionsOf(plan, map)]).toEqual([expected, expected]);
  });
});

describe('the coverage', () => {
  const accounted = {
    ...plan,
    inline: ['some_later_inline'],
    functions: { some_one: { api: ['make'], native: ['one'] } },
    notExposed: { some_two: 'no use', some_later_inline: 'no use' },
  };
  const files = () => {
    library('libsome.so', 'int some_one(void) { return 1; }\n');
    writeFileSync(join(directory, 'some.h'), 'int some_one(void);\nstatic inline int some_two(int x) { return x; }\n');
    writeFileSync(join(directory, 'addon.cjs'), 'exports.one = () => 1;\n');
    writeFileSync(join(directory, 'thing.d.ts'), '/** Does `some_one`. */\nexport declare function make(): void;\n');
  };

  it('is of our own library and the inline functions, whatever release the header is of', () => {
    files();
    const { rows, problems, missing } = cover(directory, accounted);
    expect(problems).toEqual([]);
    expect(missing).toEqual([accounted.installed]);
    expect(rows.map(({ name, inline }) => [name, inline])).toEqual([
      ['some_later_inline', true],
      ['some_one', false],
      ['some_two', true],
    ]);
    // A header that has the later function, too.
    const text =
      'int some_one(void);\nstatic inline int some_two(int x) { return x; }\nstatic inline int some_later_inline(int x) { return x; }\n';
    writeFileSync(join(directory, 'some.h'), text);
    expect(cover(directory, accounted)).toEqual({ rows, problems, missing });
  });

  it('tells what a header, a map file or a library of any release has beyond it', () => {
    files();
    const map = join(directory, 'later.map');
    writeFileSync(map, 'SOME_1.0 { global: some_one; some_new; };\nSOME_PRIVATE_70 { global: some_private; };\n');
    const headers = join(directory, 'include');
    mkdirSync(headers, { recursive: true });
    writeFileSync(join(headers, 'newer_some.h'), 'int some_one(void);\nint some_newer(void);\n');
    const include = { ...accounted, headers: ['newer_some.h'] };
    expect(cover(directory, accounted, [map]).problems).toEqual([`some_new of ${map} is not known`]);
    expect(functionsOf(include, headers)).toEqual(new Set(['some_one', 'some_newer']));
    writeFileSync(join(directory, 'some.h'), 'int some_here(void);\nstatic inline int some_two(int x) { return x; }\n');
    expect(cover(directory, accounted).problems).toEqual(['some_here is neither exposed nor listed']);
  });

  it('tells of statements that are wrong', () => {
    files();
    const wrong = {
      ...accounted,
      functions: {
        some_one: { api: ['make', 'unmake'], native: ['two'] },
        some_gone: { api: ['make'] },
      },
    };
    expect(cover(directory, wrong).problems).toEqual([
      'some_gone is in api-coverage.json, but no header declares and no library exports it',
      'some_one: there is no public unmake',
      'some_one: the addon has no two',
      'some_gone: the documentation of make does not name it',
      "the addon's one stands for no function",
    ]);
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
  const text = markdown(plan, {
    rows: [
      { name: 'some_one', api: ['make', 'Thing.run'], inline: false },
      { name: 'some_two', api: [], reason: 'no use', inline: true },
    ],
  });
  expect(text).toContain('The 2 functions up to release 1.0 of rdma-core: 1 exposed, 1 not.');
  expect(text).toContain('| `some_one` | `make`, `Thing.run` |');
  expect(text).toContain('| `some_two` | no use |');
});
