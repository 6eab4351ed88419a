import { expect, it } from 'vitest';
import { readmeExample, runBelow } from '../../core/test/shared/readme.js';

const folder = new URL('../', import.meta.url);

it("runs the README's example, with the output that the README shows", () => {
  const { program, output } = readmeExample(folder);
  expect(program).toContain("from '@verbs/rdmacm'");
  expect(runBelow(folder, program)).toEqual({ status: 0, stdout: output, stderr: '' });
});

it('runs the lines about the calls of later releases', () => {
  const programs = Array.from({ length: 20 }, (_, index) => readmeExample(folder, index).program);
  const program = programs.find((text) => text.includes('writeCmEvent')) ?? '';
  expect(runBelow(folder, program)).toEqual({ status: 0, stdout: '127.0.0.1\nUSER 7n\n', stderr: '' });
});
