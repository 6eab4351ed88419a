/** @import { HblScenario } from './fixture.mjs' */
import { QpAttrMask, QpState } from '@verbs/core';
import { CqType, createCq, modifyQp, MTU_8192, QpCaps, QpWqTypes, queryCq, queryQp, SwqGranularity } from '@verbs/hbl';
import { control, errnoOf, saw } from '../scenario.mjs';
import { dropHblFixture, init, makeHblFixture, openReady, rtr, rts } from './fixture.mjs';

/** @type {Record<string, HblScenario>} */
export const queueScenarios = {
  'hbl-completion-queues': (device) => {
    const context = openReady(device);
    const channel = context.createCompChannel();
    const plain = createCq(context, 10, { portNum: 1 });
    const { cqNum, cqSize, regsOffset, cqType } = queryCq(plain);
    saw(`${cqNum} ${cqSize} ${regsOffset} ${cqType}`);
    const options = { portNum: 1, cqType: CqType.CC, channel, compVector: 2 };
    const congestion = createCq(context, 64, options);
    saw(`a second one: ${errnoOf(() => createCq(context, 64, options))}`);
    congestion.close();
    plain.close();
    channel.close();
    context.close();
  },

  'hbl-queue-pair': (device) => {
    const fixture = makeHblFixture(device);
    const { qp } = fixture;
    const common = { wqType: QpWqTypes.WRITE, wqGranularity: SwqGranularity.GRAN_64B, priority: 2 };
    modifyQp(qp, init, common);
    const before = queryQp(qp);
    saw(`number ${before.qpNum}, send queue ${Number(before.sendQueue !== undefined)}`);
    modifyQp(qp, { ...rtr, pathMtu: MTU_8192 }, { ...common, caps: QpCaps.LOOPBACK, localKey: 0x1234 });
    modifyQp(qp, rts, {
      ...common,
      caps: QpCaps.CONG_CTRL | QpCaps.COMPRESSION,
      localKey: 0x1234,
      remoteKey: 0x5678,
      congestionWnd: 0x9abc,
      destWqSize: 512,
    });
    const after = queryQp(qp);
    saw(`number ${after.qpNum}, send queue ${Number(after.sendQueue !== undefined)}`);
    modifyQp(qp, { qpState: QpState.RESET });
    modifyQp(qp, init);
    saw(`number ${queryQp(qp).qpNum}`);
    dropHblFixture(fixture);
  },

  'hbl-plain-modify': (device) => {
    const fixture = makeHblFixture(device);
    const { qp } = fixture;
    qp.modify(init);
    qp.modify(rtr);
    qp.modify(rts);
    qp.query(QpAttrMask.STATE | QpAttrMask.CAP);
    saw(
      `to ERR: ${errnoOf(() => {
        qp.modify({ qpState: QpState.ERR });
      })}`,
    );
    dropHblFixture(fixture);
  },

  'hbl-rendezvous': (device) => {
    const fixture = makeHblFixture(device);
    const given = { wqType: QpWqTypes.RECV_RDV, priority: 3, destWqSize: 1024 };
    modifyQp(fixture.qp, init, given);
    modifyQp(fixture.qp, rtr, given);
    modifyQp(fixture.qp, rts, given);
    dropHblFixture(fixture);
  },

  'hbl-events': async (device) => {
    const fixture = makeHblFixture(device);
    control('event-of qp 1');
    for await (const { type, element } of fixture.context.asyncEvents()) {
      saw(`event ${type} of the queue pair: ${Number(element === fixture.qp)}`);
      break;
    }
    dropHblFixture(fixture);
  },
};
