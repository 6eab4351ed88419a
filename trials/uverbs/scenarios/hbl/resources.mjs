/** @import { HblScenario } from './fixture.mjs' */
import {
  createEncap,
  createUsrFifo,
  EncapType,
  encodeDoorbell,
  modifyQp,
  QpCaps,
  QpWqTypes,
  UsrFifoType,
} from '@verbs/hbl';
import { control, errnoOf, saw } from '../scenario.mjs';
import { encapAttr, init, makeHblFixture, openReady, rtr, rts } from './fixture.mjs';

/** @type {Record<string, HblScenario>} */
export const resourceScenarios = {
  'hbl-fifos': (device) => {
    const context = openReady(device);
    const attrs = [{ portNum: 1 }, { portNum: 1, usrFifoNumHint: 5 }, { portNum: 1, usrFifoType: UsrFifoType.CC }];
    const fifos = attrs.map((attr) => {
      const fifo = createUsrFifo(context, attr);
      saw(`${fifo.usrFifoNum} ${fifo.regsOffset} ${fifo.size} ${fifo.bpThresh}`);
      return fifo;
    });
    saw(`number 5 again: ${errnoOf(() => createUsrFifo(context, { portNum: 1, usrFifoNumHint: 5 }))}`);
    for (const fifo of fifos) fifo.close();
    context.close();
  },

  'hbl-all-fifos': (device) => {
    const context = openReady(device);
    const fifos = Array.from({ length: 30 }, () => createUsrFifo(context, { portNum: 1 }));
    saw(`one more: ${errnoOf(() => createUsrFifo(context, { portNum: 1 }))}`);
    for (const fifo of fifos) fifo.close();
    context.close();
  },

  'hbl-doorbells': (device) => {
    const context = openReady(device);
    for (const usrFifoNumHint of [1, 2]) {
      const fifo = createUsrFifo(context, { portNum: 1, usrFifoNumHint });
      fifo.push(encodeDoorbell({ index: 0x3fff01, qpNum: 0x123456, portNum: 1 }));
      saw(`consumer index ${fifo.ci}`);
      control('queues');
      fifo.close();
    }
    context.close();
  },

  'hbl-encaps': (device) => {
    const context = openReady(device);
    const encap = createEncap(context, encapAttr);
    saw(`number ${encap.encapNum}, a second: ${errnoOf(() => createEncap(context, encapAttr))}`);
    encap.close();
    context.close();
  },

  'hbl-encap-refusals': (device) => {
    const context = openReady(device);
    const { header } = encapAttr;
    const refused = (/** @type {string} */ what, /** @type {Parameters<typeof createEncap>[1]} */ attr) => {
      saw(`${what}: ${errnoOf(() => createEncap(context, attr))}`);
    };
    refused('31 bytes', { ...encapAttr, header: header.subarray(0, 31) });
    refused('28 bytes', { ...encapAttr, header: header.subarray(0, 28) });
    refused('over IPv4', {
      portNum: 1,
      encapType: EncapType.ENC_OVER_IPV4,
      ipv4Addr: '10.0.0.1',
      ipProto: 47,
      header,
    });
    refused('none', { portNum: 1, encapType: EncapType.NO_ENC });
    refused('a port that is not set up', { ...encapAttr, portNum: 2 });
    refused('a port that is not open', { ...encapAttr, portNum: 3 });
    context.close();
  },

  'hbl-encapsulated': (device) => {
    const { context, pd, cq, qp } = makeHblFixture(device);
    const encap = createEncap(context, encapAttr);
    modifyQp(qp, init, { wqType: QpWqTypes.WRITE });
    modifyQp(qp, rtr, { caps: QpCaps.ENCAP, encapNum: encap.encapNum, localKey: 0x77 });
    modifyQp(qp, rts, { caps: QpCaps.ENCAP, encapNum: encap.encapNum, remoteKey: 0x88 });
    qp.close();
    encap.close();
    cq.close();
    pd.close();
    context.close();
  },
};
