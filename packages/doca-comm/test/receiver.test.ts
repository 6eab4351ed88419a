import { expect, test } from 'vitest';
import { DocaStatus } from '../src/base/errors.js';
import { Receiver } from '../src/endpoint/receiver.js';

/** An end that gives these results for peer 7, which the program disconnects, and for peer 8. */
function receiverOf(...results: [result: number, from: number][]) {
  const receiver = new Receiver({
    isLeaving: (number: number) => number === 7,
    of: (number: number) => number,
  } as never);
  receiver.start(64);
  const end = {
    syscall: (name: string) => name,
    recvFrom: (_: Uint8Array, from: Uint32Array) => {
      const [result, number] = results.shift() ?? [];
      if (result === undefined || number === undefined) throw new Error('it was asked once more');
      from[0] = number;
      return result;
    },
  };
  return () => receiver.receive(end as never, undefined);
}

test("messages of a peer that leaves, and its end, are nobody's", () => {
  const { CONNECTION_RESET } = DocaStatus;
  const receive = receiverOf([3, 7], [-CONNECTION_RESET, 7], [0, 7], [5, 8]);
  expect(receive()).toMatchObject({ peer: 8, data: { length: 5 } });
});

test('what tells of the endpoint itself is an error, whatever peer was the last one', () => {
  expect(receiverOf([3, 7], [-DocaStatus.NOT_CONNECTED, 7])).toThrow(/NOT_CONNECTED/);
});
