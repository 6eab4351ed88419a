/** @import { Context, QpType as QpTypes } from '@verbs/core' */
/** @import { Scenario } from './scenario.mjs' */
import { AccessFlags, QpAttrMask, QpState, QpType, RxHashFields, RxHashFunction, WqState } from '@verbs/core';
import { dropFixture, makeFixture } from './fixture.mjs';
import { control, errnoOf, saw } from './scenario.mjs';

/**
 * @param {Context} context
 * @param {QpTypes} type
 */
function ofType(context, type) {
  const fixture = makeFixture(context, type);
  fixture.qp.query(QpAttrMask.STATE | QpAttrMask.CAP);
  fixture.qp.modify({ qpState: QpState.ERR });
  fixture.qp.modify({ qpState: QpState.RESET });
  dropFixture(fixture);
}

/** @type {Record<string, Scenario>} */
export const queueScenarios = {
  'completion-queues': (context) => {
    const channel = context.createCompChannel();
    const plain = context.createCq(10, { channel: null });
    const armed = context.createCq(100, { channel, compVector: 2 });
    armed.reqNotify();
    plain.resize(40);
    armed.close();
    plain.close();
    channel.close();
  },

  rc: (context) => {
    ofType(context, QpType.RC);
  },
  uc: (context) => {
    ofType(context, QpType.UC);
  },
  ud: (context) => {
    ofType(context, QpType.UD);
  },

  'shared-receive': (context) => {
    const pd = context.allocPd();
    const cq = context.createCq(16, { channel: null });
    const srq = pd.createSrq({ maxWr: 16, maxSge: 2 });
    const qp = pd.createQp({
      qpType: QpType.RC,
      sendCq: cq,
      recvCq: cq,
      srq,
      sqSigAll: true,
      cap: { maxSendWr: 4, maxRecvWr: 0, maxSendSge: 1, maxRecvSge: 0 },
    });
    srq.modify({ srqLimit: 3 });
    srq.query();
    const mr = pd.allocMr(4096, AccessFlags.LOCAL_WRITE);
    srq.postRecv({ wrId: 5, sgList: [{ mr, offset: 128, length: 256 }] });
    control('queues');
    mr.close();
    qp.close();
    srq.close();
    cq.close();
    pd.close();
  },

  'receive-side-scaling': (context) => {
    const pd = context.allocPd();
    const cq = context.createCq(16, { channel: null });
    const queues = [0, 1].map(() => {
      const queue = pd.createWq({ cq, maxWr: 8, maxSge: 1 });
      queue.modify({ wqState: WqState.RDY });
      return queue;
    });
    const table = context.createRwqIndTable(queues);
    const qp = pd.createQp({
      qpType: QpType.RAW_PACKET,
      rwqIndTbl: table,
      rxHashConf: {
        function: RxHashFunction.TOEPLITZ,
        key: Uint8Array.from({ length: 40 }, (_, index) => index + 1),
        fields: RxHashFields.SRC_IPV4 | RxHashFields.DST_IPV4,
      },
      cap: { maxSendWr: 0, maxRecvWr: 0, maxSendSge: 0 },
    });
    qp.close();
    table.close();
    queues[1]?.close();
    queues[0]?.close();
    cq.close();
    pd.close();
  },

  multicast: (context) => {
    const fixture = makeFixture(context, QpType.UD);
    fixture.qp.attachMcast('ff0e::ffff:239.1.2.3', 0);
    fixture.qp.detachMcast('ff0e::ffff:239.1.2.3', 0);
    dropFixture(fixture);
  },

  'refused-destroys': (context) => {
    const fixture = makeFixture(context);
    control('refuse QP_DESTROY 16 1');
    control('refuse DESTROY_QP 16 1');
    saw(
      `destroying the queue pair: ${errnoOf(() => {
        fixture.qp.close();
      })}`,
    );
    control('refuse MR_DESTROY 16 1');
    control('refuse DEREG_MR 16 1');
    saw(
      `deregistering the region: ${errnoOf(() => {
        fixture.mr.close();
      })}`,
    );
    dropFixture(fixture);
  },
};
