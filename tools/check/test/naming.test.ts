import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { root } from '../../setup/src/paths.mjs';
import { checkUnit } from '../src/naming/check-unit.mjs';
import { fileLocalNames } from '../src/naming/file-local-names.mjs';
import { canBeNumbered } from '../src/naming/unit-text.mjs';

let folder = '';
beforeEach(() => {
  // The rules are those of a .clang-tidy above the file.
  mkdirSync(join(root, 'build'), { recursive: true });
  folder = mkdtempSync(join(root, 'build/naming-test-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

it('knows the names that two sources of a unit must not share', () => {
  const text = `#define LIMIT 4
namespace verbs {
namespace {

constexpr char kMagic[8] = {};
constexpr std::uint32_t kMacSize = 2 * kHalf, kTagSize = 4;
constexpr bool is_tag(std::uint16_t type) { return type == kTag; }
static_assert(sizeof(kMagic) == 8);
struct Bench final : Sink {
  int inner = 0;
};
std::uint32_t length_of(napi_env env) {

}  // namespace
int shared();
static int counter = 0;
`;
  expect(fileLocalNames(text)).toEqual([
    'LIMIT',
    'kMagic',
    'kMacSize',
    'kTagSize',
    'is_tag',
    'Bench',
    'length_of',
    'counter',
  ]);
});

it('numbers a name that an earlier source has, unless it is also the name of a member', async () => {
  const sources = [
    source('first.cc', 'namespace {\n\nint check() { return 1; }\n\n}  // namespace\n'),
    source(
      'second.cc',
      'namespace {\n\nint check() { return 2; }\nint Check() { return check(); }\n\n}  // namespace\n',
    ),
  ];
  const findings = await checkUnit({ sources, options: ['-std=c++20', '-w'] });
  expect(findings).toHaveLength(1);
  expect(findings[0]).toMatch(/second\.cc:4:5: error: invalid case style for function 'Check'/);
  expect(canBeNumbered('check', 'int check();\nint all = check();\n')).toBe(true);
  expect(canBeNumbered('check', 'int check();\nint all = list.check();\n')).toBe(false);
});

it('finds names against the rules, in sources that compile together and in those that do not', async () => {
  const sources = [
    source('good.cc', 'namespace { struct Counter { int value = 0; }; }\n'),
    source('bad.cc', 'int ReadValue() { return 0; }\n'),
    source('again.cc', 'namespace { struct Counter {}; }\nconstexpr int limit = 3;\n'),
  ];
  const findings = await checkUnit({ sources, options: ['-std=c++20', '-w'] });
  expect(findings).toHaveLength(2);
  expect(findings[0]).toMatch(/bad\.cc:1:5: error: invalid case style for function 'ReadValue'/);
  expect(findings[1]).toMatch(/again\.cc:2:15: error: invalid case style for .*constexpr.* 'limit'/);
});

function source(name: string, text: string): string {
  // Where .clang-tidy's filter expects the sources.
  const native = join(folder, 'packages/example/native');
  mkdirSync(native, { recursive: true });
  const path = join(native, name);
  writeFileSync(path, text);
  return path;
}
