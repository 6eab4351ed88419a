import { expect, test } from 'vitest';
import { compareVersions, neededVersions, tooNew } from '../src/symbols.mjs';

const DUMP = `
0000000000000000      DF *UND*  0000000000000000 (GLIBC_2.2.5) free
0000000000000000      DF *UND*  0000000000000000 (GLIBC_2.34) dlsym
0000000000000000      DF *UND*  0000000000000000 (GLIBC_2.4)  __stack_chk_fail
0000000000000000      DO *UND*  0000000000000000 (GLIBCXX_3.4.9) _ZTVN10
0000000000001100 g    DF .text  0000000000000010  IBVERBS_1.1 ibv_open_device
`;

test('finds the newest version of each family, by numbers', () => {
  expect(neededVersions(DUMP)).toEqual({ GLIBC: '2.34', GLIBCXX: '3.4.9' });
  expect(compareVersions('2.4', '2.34')).toBeLessThan(0);
  expect(compareVersions('3.4', '3.4.0')).toBe(0);
});

test('allows what supported distributions have, and names the rest', () => {
  expect(tooNew({ GLIBC: '2.34', GLIBCXX: '3.4.29' })).toEqual([]);
  expect(tooNew({ GLIBC: '2.36', GLIBCXX: '3.4.30', CXXABI: '1.3.9' })).toEqual(['GLIBC_2.36', 'GLIBCXX_3.4.30']);
});
