import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { examplesOf } from '../src/examples/blocks.mjs';
import { checkExamples } from '../src/examples/program.mjs';
import { checkDocuments, codeOf } from '../src/examples/readme.mjs';

describe('examplesOf', () => {
  it('finds the code of a comment, with its line', () => {
    const text = [
      '/**',
      ' * One.',
      ' *',
      ' * @throws Error',
      ' * @example',
      ' * const two = one();',
      ' *',
      ' *   three(two);',
      ' */',
      'export function one() {}',
    ].join('\n');
    expect(examplesOf('one.ts', text)).toEqual([
      { file: 'one.ts', line: 5, code: '\nconst two = one();\n\n  three(two);' },
    ]);
  });

  it('finds each of several, on one line, of a member', () => {
    const text =
      'export interface A {\n  /** A. @example a(); */\n  a: number;\n  /** @example b();\n   * @example c(); */\n  b(): void;\n}';
    expect(examplesOf('a.ts', text).map(({ line, code }) => [line, code.trim()])).toEqual([
      [2, 'a();'],
      [4, 'b();'],
      [5, 'c();'],
    ]);
  });

  it('leaves the fence of a code block out', () => {
    const text = '/**\n * @example\n * ```ts\n * a();\n * ```\n */\nexport const a = () => 1;';
    expect(examplesOf('a.ts', text)).toEqual([{ file: 'a.ts', line: 2, code: '\n\na();' }]);
  });

  it('finds none where there is none', () => {
    expect(examplesOf('a.ts', '// @example a();\n/** No example. */\nexport const a = 1;')).toEqual([]);
  });
});

// Each starts the compiler.
describe('checkExamples', { timeout: 60_000 }, () => {
  let folder: string;
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  const check = () => checkExamples(join(folder, 'scope/tsconfig.json'), [join(folder, 'core'), join(folder, 'other')]);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'verbs-examples-'));
    const compilerOptions = {
      ...{ strict: true, module: 'NodeNext', target: 'ES2023', lib: ['ES2023'], types: [] },
      ...{ noEmit: true, allowImportingTsExtensions: true },
    };
    write('scope/tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    write('scope/scope.ts', 'declare global { const given: number }\nexport {};\n');
    write('core/src/index.ts', 'export const double = (n: number) => 2 * n;\n');
    write('other/src/index.ts', '');
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('lets an example use its package, the core, the scope and what it imports', () => {
    write('other/src/more.ts', 'export const half = (n: number) => n / 2;\n');
    write(
      'other/src/index.ts',
      "/** @example\n * import { half } from './src/more.js';\n * import { own } from './src/index.js';\n *\n * await Promise.resolve(own(double(half(given))));\n */\nexport const own = (n: number) => n;\n",
    );
    expect(check()).toEqual({ count: 1, findings: [] });
  });

  it('tells what is wrong, and where', () => {
    write(
      'core/src/index.ts',
      "export const one = 1;\n/**\n * Doubles.\n *\n * @example\n * double(1);\n * double('1');\n */\nexport const double = (n: number) => 2 * n;\n",
    );
    const { count, findings } = check();
    expect(count).toBe(1);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatchObject({ file: join(folder, 'core/src/index.ts'), line: 7 });
    expect(findings[0]?.message).toContain("not assignable to parameter of type 'number'");
  });
});

describe('programs of documents', () => {
  const document = [
    'A line.',
    '```js',
    "import { strict } from 'node:assert';",
    '',
    'strict(add(1, 2) === 3);',
    'function add(a, b) {',
    '  return a + b;',
    '}',
    '```',
    '```js',
    'a fragment, without an import',
    '```',
    '```ts',
    "import { strict } from 'node:assert';",
    'strict(true);',
    '```',
  ].join('\n');

  it('are the blocks that import something, with their lines', () => {
    expect(codeOf('one.md', document).programs.map(({ line, code }) => [line, code.split('\n').length])).toEqual([
      [3, 7],
      [14, 3],
    ]);
    expect(codeOf('one.md', document).fragments).toEqual([
      { file: 'one.md', line: 11, code: 'a fragment, without an import\n' },
    ]);
  });

  it('compile as tsc --strict does, and findings name the line of the document', () => {
    const folder = mkdtempSync(join(tmpdir(), 'verbs-documents-test-'));
    const file = join(folder, 'README.md');
    writeFileSync(file, document);
    const tsconfig = fileURLToPath(new URL('../examples/tsconfig.json', import.meta.url));
    const { count, findings } = checkDocuments(tsconfig, [file]);
    rmSync(folder, { recursive: true });
    expect(count).toBe(2);
    expect(findings.filter(({ file: found }) => found === file)).toEqual([
      { file, line: 6, message: "Parameter 'a' implicitly has an 'any' type." },
      { file, line: 6, message: "Parameter 'b' implicitly has an 'any' type." },
    ]);
  }, 60_000);
});
