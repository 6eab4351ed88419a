import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const tests = new URL('../native/test/abi/', import.meta.url);
/** The text of each test, by its name. */
const bodies = new Map<string, string>();
for (const file of readdirSync(tests)) {
  const text = readFileSync(new URL(file, tests), 'utf8');
  for (const [, name = '', body = ''] of text.matchAll(/^TEST_CASE\(\s*"([^"]+)"\) \{\n([^]*?)^\}/gm)) {
    bodies.set(name, body);
  }
}
const rows = readFileSync(new URL('error-table.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (function|-+) /.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('\\', '')))
  .map(([, name = '', code = '', where = '']) => ({ name, code, where }));

test('the table has every function of the channel', () => {
  const header = readFileSync(new URL('../native/include/doca_comm_channel.h', import.meta.url), 'utf8');
  const names = [...header.matchAll(/\bdoca_comm_channel_(\w+)\((?=struct|const|uint)/g)].map(([, name]) => name);
  expect(names).toHaveLength(37);
  expect([...new Set(rows.map(({ name }) => name))].sort()).toEqual(names.sort());
});

test.each(rows)('$name: $code is reached by a test', ({ code, where }) => {
  const body = bodies.get(where);
  expect(body, `there is no test "${where}"`).toBeDefined();
  expect(body).toContain(`DOCA_ERROR_${code}`);
});
