import { MessageChannel, Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { CompletionBatch, MwType, RecvBatch, SendBatch } from '../../src/index.js';
import { bench, createQp } from '../helpers/devices.js';

it('is refused to clone an object, or to send it to another thread', () => {
  const b = bench();
  const objects: Record<string, object> = {
    ...b,
    qp: createQp(b),
    srq: b.pd.createSrq({ maxWr: 4 }),
    ah: b.pd.createAh({ portNum: 1, grh: { dgid: b.ctx.defaultGid().gid } }),
    mw: b.pd.allocMw(MwType.TYPE_2),
    dm: b.ctx.allocDm(64),
    td: b.ctx.allocTd(),
    xrcd: b.ctx.openXrcd(),
    sends: new SendBatch(1),
    receives: new RecvBatch(1),
    completions: new CompletionBatch(1),
  };
  const { port1 } = new MessageChannel();
  for (const [name, object] of Object.entries(objects)) {
    const ways: Record<string, () => unknown> = {
      structuredClone: () => structuredClone(object),
      'structuredClone inside': () => structuredClone({ list: [object] }),
      'structuredClone with transfer': () => structuredClone(object, { transfer: [object as ArrayBuffer] }),
      postMessage: () => {
        port1.postMessage(object);
      },
      'postMessage with transfer': () => {
        port1.postMessage(object, [object as ArrayBuffer]);
      },
      workerData: () => new Worker('', { eval: true, workerData: object }),
    };
    for (const [way, send] of Object.entries(ways)) {
      const error: unknown = (() => {
        try {
          return send();
        } catch (thrown) {
          return thrown;
        }
      })();
      expect(error, `${way} of ${name}`).toBeInstanceOf(Error);
      if (!way.endsWith('transfer')) expect(error).toMatchObject({ name: 'DataCloneError' });
    }
  }
  port1.close();
});
