/** @import { QueuePair } from '@verbs/core' */
/** @import { HblScenario } from './fixture.mjs' */
import { AccessFlags } from '@verbs/core';
import { createEncap, createUsrFifo, modifyQp, openDevice, queryPort, QpWqTypes, setPortEx } from '@verbs/hbl';
import { addressVector } from '../fixture.mjs';
import { control, errnoOf, saw } from '../scenario.mjs';
import { dropHblFixture, encapAttr, init, makeHblFixture, openPorts, openReady, rtr, rts } from './fixture.mjs';

/**
 * @param {string} what
 * @param {() => unknown} call
 */
function answer(what, call) {
  saw(`${what}: ${errnoOf(call)}`);
}

/**
 * A try in INIT.
 * @param {QueuePair} qp
 * @param {number} wqType
 */
function tryInit(qp, wqType) {
  answer(`work ${wqType}`, () => {
    modifyQp(qp, init, { wqType });
  });
}

/** @type {Record<string, HblScenario>} */
export const refusalScenarios = {
  'hbl-ports-refused': (device) => {
    answer('a port that is not there', () => openDevice(device, { portsMask: 16n, coreFd: 7 }));
    const context = openPorts(device);
    const refused = (/** @type {string} */ what, /** @type {Parameters<typeof setPortEx>[1]} */ attr) => {
      answer(what, () => {
        setPortEx(context, attr);
      });
    };
    refused('a port that is not open', { portNum: 3 });
    refused('an offset without ADVANCED', { portNum: 1, qpWqBpOffs: [4] });
    refused('an offset outside', { portNum: 1, qpWqBpOffs: [0, 0, 0x8000000] });
    refused('8 elements', { portNum: 1, wqArrAttr: [{ maxNumOfWqs: 1, maxNumOfWqesInWq: 8 }] });
    context.close();
  },

  'hbl-fifos-refused': (device) => {
    const context = openReady(device);
    answer('a port that is not set up', () => createUsrFifo(context, { portNum: 2 }));
    answer('a port that is not open', () => createUsrFifo(context, { portNum: 3 }));
    answer('number 31', () => createUsrFifo(context, { portNum: 1, usrFifoNumHint: 31 }));
    answer('mode 2', () => createUsrFifo(context, { portNum: 1, usrFifoType: /** @type {number} */ (2) }));
    context.close();
  },

  'hbl-states-refused': (device) => {
    const fixture = makeHblFixture(device);
    const { qp } = fixture;
    tryInit(qp, 0);
    tryInit(qp, QpWqTypes.RECV_RDV | QpWqTypes.READ_RDV);
    tryInit(qp, QpWqTypes.SEND_RDV | QpWqTypes.WRITE);
    tryInit(qp, QpWqTypes.WRITE);
    const given = { wqType: QpWqTypes.WRITE };
    answer('a number without ENCAP', () => {
      modifyQp(qp, rtr, { ...given, encapNum: 2 });
    });
    // The kernel has put it back to RESET.
    answer('RTR again', () => {
      modifyQp(qp, rtr, given);
    });
    tryInit(qp, QpWqTypes.WRITE);
    answer('RTR', () => {
      modifyQp(qp, rtr, given);
    });
    answer('priority 4', () => {
      modifyQp(qp, rts, { ...given, priority: 4 });
    });
    dropHblFixture(fixture);
  },

  'hbl-missing': (device) => {
    const fixture = makeHblFixture(device);
    const { context, pd, cq } = fixture;
    answer('a region', () => pd.allocMr(4096, AccessFlags.LOCAL_WRITE));
    answer('an address handle', () => pd.createAh(addressVector));
    answer('polling', () => cq.poll(1));
    answer('notification', () => {
      cq.reqNotify();
    });
    answer('a queue of ordinary verbs', () => context.createCq(16, { channel: null }));
    answer('a second protection domain', () => context.allocPd());
    dropHblFixture(fixture);
  },

  'hbl-destroys-refused': (device) => {
    const fixture = makeHblFixture(device);
    control('refuse QP_DESTROY 16 1');
    answer('the queue pair', () => {
      fixture.qp.close();
    });
    const fifo = createUsrFifo(fixture.context, { portNum: 1 });
    control('refuse USR_FIFO_DESTROY 16 1');
    answer('the FIFO', () => {
      fifo.close();
    });
    const encap = createEncap(fixture.context, encapAttr);
    control('refuse ENCAP_DESTROY 16 1');
    answer('the encapsulation', () => {
      encap.close();
    });
    dropHblFixture(fixture);
  },

  'hbl-removal': async (device) => {
    const { context } = makeHblFixture(device);
    control('remove');
    for await (const { type } of context.asyncEvents()) {
      saw(`event ${type}`);
      break;
    }
    answer('the port', () => queryPort(context, 1));
    context.close();
  },
};
