import { softNic } from '@verbs/soft';
import { describe, expect, it } from 'vitest';
import { AccessFlags, QpState, type QpStateMessage, SendFlags, WrOpcode } from '../../src/index.js';
import { listen } from '../helpers/channels.js';
import { type Bench, bench, createQp, open, pair, take } from '../helpers/devices.js';

const turn = () => new Promise((resolve) => setTimeout(resolve, 5));
async function until(what: () => boolean) {
  for (let i = 0; i < 2000 && !what(); i++) await turn();
  expect(what()).toBe(true);
}
const text = ({ qpNum, from, to, cause }: QpStateMessage) => `${qpNum}: ${from} -> ${to} (${cause})`;
/** A write that the peer refuses: both ends fail. */
const refused = (b: Bench) => ({
  ...{ opcode: WrOpcode.RDMA_WRITE, sendFlags: SendFlags.SIGNALED, sgList: [{ mr: b.mr, length: 8 }] },
  ...{ remoteAddr: b.mr.addr, rkey: b.mr.rkey ^ 0xff00 },
});

describe('verbs:qp:state', () => {
  it('tells of every change that the program makes', () => {
    const b = bench();
    const heard = listen('verbs:qp:state');
    const [{ qpNum }] = pair(b);
    expect(heard.splice(0).map(text).slice(0, 3)).toEqual([
      `${qpNum}: RESET -> INIT (modify)`,
      `${qpNum}: INIT -> RTR (modify)`,
      `${qpNum}: RTR -> RTS (modify)`,
    ]);
    const qp = createQp(b);
    qp.query();
    expect(() => {
      qp.modify({ qpState: QpState.RTS, curQpState: QpState.SQD });
    }).toThrow(/EINVAL/);
    expect(heard).toEqual([]);
    qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
    qp.modify({ qpState: QpState.ERR });
    qp.modify({ qpState: QpState.ERR });
    qp.modify({ qpState: QpState.RESET });
    const steps = heard.map(({ qp: of, from, to }) => [of, from, to]);
    expect(steps).toEqual([
      [qp, 'RESET', 'INIT'],
      [qp, 'INIT', 'ERR'],
      [qp, 'ERR', 'RESET'],
    ]);
  });

  it('tells of a failure where it is seen first: a completion, an event, or a query', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const heard = listen('verbs:qp:state');
    one.postSend(refused(b));
    expect(heard).toEqual([]);
    expect(await take(b.cq, 1)).toMatchObject([{ statusName: 'REM_ACCESS_ERR' }]);
    expect(heard.splice(0).map(text)).toEqual([`${one.qpNum}: RTS -> ERR (completion)`]);
    two.query();
    expect(heard.splice(0).map(text)).toEqual([`${two.qpNum}: RTS -> ERR (query)`]);

    const [three, four] = pair(b);
    heard.length = 0;
    for await (const { name, element } of b.ctx.asyncEvents()) {
      // That of the first pair is still waiting.
      if (element === two) three.postSend(refused(b));
      if (element !== four) continue;
      expect(name).toBe('QP_ACCESS_ERR');
      break;
    }
    expect(heard.map(text)).toContain(`${four.qpNum}: RTS -> ERR (event)`);
  });
});

describe('verbs:mr', () => {
  it('tells of memory that is registered, registered anew and given back, with its size', () => {
    const { pd } = bench();
    const [on, off] = [listen('verbs:mr:register'), listen('verbs:mr:deregister')];
    const opened = listen('verbs:object:open');
    const mr = pd.allocMr(4096, 1);
    mr.rereg({ access: AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE });
    expect(on).toMatchObject([
      { mr, length: 4096, access: 1 },
      { mr, length: 4096, access: 3 },
    ]);
    expect(opened).toEqual([{ type: 'MemoryRegion', id: on[0]?.id }]);
    expect(off).toEqual([]);
    mr.close();
    expect(off).toMatchObject([{ id: on[0]?.id, mr, length: 4096, access: 3 }]);
  });
});

describe('verbs:device:event', () => {
  it('tells of events also when nobody else listens, if it was subscribed to when the device was opened', async () => {
    const heard = listen('verbs:device:event');
    const ctx = open();
    const nic = softNic('soft0');
    nic.setLinkDown();
    nic.setLinkUp();
    await until(() => heard.length === 2);
    expect(heard).toMatchObject([
      { context: ctx, event: { name: 'PORT_ERR', portNum: 1 } },
      { context: ctx, event: { name: 'PORT_ACTIVE', portNum: 1 } },
    ]);
    // Those who come later have them all the same.
    for await (const { name } of ctx.asyncEvents()) {
      expect(name).toBe('PORT_ERR');
      break;
    }
  });
});
