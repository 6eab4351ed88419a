/** @import { SendWr } from '@verbs/core' */
/** @import { Fixture } from './fixture.mjs' */
/** @import { Scenario } from './scenario.mjs' */
import { AccessFlags, MwType, QpType, SendFlags, WrOpcode } from '@verbs/core';
import { addressVector, dropFixture, makeFixture } from './fixture.mjs';
import { control } from './scenario.mjs';

/**
 * @param {Fixture} fixture
 * @param {SendWr} wr
 */
function post(fixture, wr) {
  fixture.qp.postSend(wr);
  control('queues');
}

/** @param {Fixture} fixture */
const twoElements = ({ mr }) => [
  { mr, offset: 0, length: 100 },
  { mr, offset: 4096, length: 200 },
];

/** @param {Fixture} fixture */
const oneElement = ({ mr }) => [{ mr, offset: 0, length: 100 }];

const remote = { remoteAddr: 0x1122334455667788n, rkey: 0x99aabbcc };

/** @type {Record<string, Scenario>} */
export const postingScenarios = {
  receives: (context) => {
    const fixture = makeFixture(context);
    fixture.qp.postRecv([
      { wrId: 1, sgList: twoElements(fixture) },
      { wrId: 2, sgList: twoElements(fixture).slice(1) },
    ]);
    control('queues');
    dropFixture(fixture);
  },

  sends: (context) => {
    const fixture = makeFixture(context);
    const { SEND, SEND_WITH_IMM, SEND_WITH_INV } = WrOpcode;
    const { SIGNALED, SOLICITED, FENCE, INLINE } = SendFlags;
    post(fixture, { wrId: 7, opcode: SEND, sgList: twoElements(fixture), sendFlags: SIGNALED });
    post(fixture, {
      wrId: 7,
      opcode: SEND_WITH_IMM,
      sgList: oneElement(fixture),
      immData: 0x12345678,
      sendFlags: SIGNALED | SOLICITED,
    });
    post(fixture, {
      wrId: 7,
      opcode: SEND_WITH_INV,
      sgList: oneElement(fixture),
      invalidateRkey: 0x4711,
      sendFlags: FENCE,
    });
    fixture.mr.bytes.set(Array.from({ length: 24 }, (_, index) => index + 1));
    const sgList = [{ mr: fixture.mr, length: 24 }];
    post(fixture, { wrId: 7, opcode: SEND, sgList, sendFlags: INLINE | SIGNALED });
    dropFixture(fixture);
  },

  remote: (context) => {
    const fixture = makeFixture(context);
    const sendFlags = SendFlags.SIGNALED;
    const { RDMA_WRITE, RDMA_WRITE_WITH_IMM, RDMA_READ } = WrOpcode;
    post(fixture, { wrId: 7, opcode: RDMA_WRITE, sgList: twoElements(fixture), ...remote, sendFlags });
    const sgList = oneElement(fixture);
    post(fixture, { wrId: 7, opcode: RDMA_WRITE_WITH_IMM, sgList, ...remote, immData: 0x00c0ffee, sendFlags });
    post(fixture, { wrId: 7, opcode: RDMA_READ, sgList, ...remote, sendFlags });
    dropFixture(fixture);
  },

  atomics: (context) => {
    const fixture = makeFixture(context);
    const sgList = [{ mr: fixture.mr, offset: 8, length: 8 }];
    const sendFlags = SendFlags.SIGNALED;
    post(fixture, {
      wrId: 7,
      opcode: WrOpcode.ATOMIC_CMP_AND_SWP,
      sgList,
      ...remote,
      compare: 0x0102030405060708n,
      swap: 0xf1f2f3f4f5f6f7f8n,
      sendFlags,
    });
    const add = 0x0102030405060708n;
    post(fixture, { wrId: 7, opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, sgList, ...remote, add, sendFlags });
    dropFixture(fixture);
  },

  binds: (context) => {
    const fixture = makeFixture(context);
    const { pd, qp, mr } = fixture;
    const sendFlags = SendFlags.SIGNALED;
    const mw = pd.allocMw(MwType.TYPE_2);
    const rkey = mw.nextRkey();
    const access = AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE;
    const bindInfo = { mr, offset: 64, length: 512, access };
    post(fixture, { wrId: 7, opcode: WrOpcode.BIND_MW, mw, rkey, bindInfo, sendFlags });
    post(fixture, { wrId: 7, opcode: WrOpcode.LOCAL_INV, invalidateRkey: rkey, sendFlags });
    const one = pd.allocMw(MwType.TYPE_1);
    qp.bindMw(one, { wrId: 9, bindInfo: { mr, length: 4096, access: AccessFlags.REMOTE_READ }, sendFlags });
    control('queues');
    one.close();
    mw.close();
    dropFixture(fixture);
  },

  datagrams: (context) => {
    const fixture = makeFixture(context, QpType.UD);
    const ah = fixture.pd.createAh(addressVector);
    const sgList = oneElement(fixture);
    const to = { ah, remoteQpn: 0x222, remoteQkey: 0x11111111 };
    const sendFlags = SendFlags.SIGNALED;
    post(fixture, { wrId: 7, opcode: WrOpcode.SEND, sgList, ...to, sendFlags });
    post(fixture, { wrId: 7, opcode: WrOpcode.SEND_WITH_IMM, sgList, ...to, immData: 0x12345678, sendFlags });
    ah.close();
    dropFixture(fixture);
  },
};
