import { expect, it } from 'vitest';
import { readmeExample, runBelow } from '../../core/test/shared/readme.js';

const folder = new URL('../', import.meta.url);

it("runs the README's example, with the output that the README shows", () => {
  const { program, output } = readmeExample(folder);
  expect(program).toContain("from '@verbs/rdmacm'");
  expect(runBelow(folder, program)).toEqual({ status: 0, stdout: output, stderr: '' });
});
