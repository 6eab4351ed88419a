import { expect, it } from 'vitest';
import { readmeExample, runBelow } from '../../core/test/shared/readme.js';

const folder = new URL('../', import.meta.url);

it.each([undefined, 'hbl_0,kind=hbl,profile=gaudi2'])('runs the first example of the README on %s', (devices) => {
  const { program, output } = readmeExample(folder);
  expect(program).toContain("from '@verbs/hbl'");
  expect(runBelow(folder, program, devices)).toEqual({ status: 0, stdout: output, stderr: '' });
});

it('runs the example of the model', () => {
  const { program, output } = readmeExample(folder, 1);
  expect(program).toContain("openDevice('hbl_0')");
  expect(runBelow(folder, program)).toEqual({ status: 0, stdout: output, stderr: '' });
});
