// What waits for the output of a command goes on at the text, or at the end of the command.
import { expect, it } from 'vitest';
import { Output } from '../src/output.mjs';

const isOver = async (promise: Promise<void>) =>
  await Promise.race([promise.then(() => true), new Promise((resolve) => setImmediate(resolve, false))]);

it('resolves at the text, whatever pieces it comes in, and at once if it is there', async () => {
  const output = new Output();
  const [heard, said] = [output.heard(), output.says('listens')];
  expect([await isOver(heard), await isOver(said)]).toEqual([false, false]);
  output.add('stderr', 'listens');
  output.add('stdout', 'lis');
  expect([await isOver(heard), await isOver(said)]).toEqual([true, false]);
  output.add('stdout', 'tens\n');
  expect([await isOver(said), await isOver(output.says('tens'))]).toEqual([true, true]);
  expect([output.stdout, output.stderr]).toEqual(['listens\n', 'listens']);
});

it('leaves nobody waiting for a command that has ended', async () => {
  const output = new Output();
  const said = output.says('listens');
  output.end();
  expect([await isOver(said), await isOver(output.heard())]).toEqual([true, true]);
});
