/** @import { CompletionQueue, Context, DeviceInfo, ProtectionDomain, QueuePair } from '@verbs/core' */
import { AccessFlags, Mtu, QpState, QpType } from '@verbs/core';
import { createCq, EncapType, openDevice, PortCaps, setPortEx } from '@verbs/hbl';
import { addressVector } from '../fixture.mjs';

/**
 * A scenario: the same calls as the one of its name in native/hbl-twin, with the same arguments.
 * @typedef {(device: DeviceInfo) => void | Promise<void>} HblScenario
 */

/**
 * Ports 1 and 2 open.
 * @param {DeviceInfo} device
 */
export const openPorts = (device) => openDevice(device, { portsMask: 0b110n, coreFd: 7 });

/**
 * Port 1 is set up too, with work queues and the advanced functions.
 * @param {DeviceInfo} device
 */
export function openReady(device) {
  const context = openPorts(device);
  setPortEx(context, {
    portNum: 1,
    caps: PortCaps.ADVANCED,
    wqArrAttr: [{ maxNumOfWqs: 64, maxNumOfWqesInWq: 256 }],
  });
  return context;
}

/**
 * @typedef {object} HblFixture
 * @property {Context} context
 * @property {ProtectionDomain} pd
 * @property {CompletionQueue} cq
 * @property {QueuePair} qp
 */

/**
 * @param {DeviceInfo} device
 * @returns {HblFixture}
 */
export function makeHblFixture(device) {
  const context = openReady(device);
  const pd = context.allocPd();
  const cq = createCq(context, 16, { portNum: 1 });
  const qp = pd.createQp({
    qpType: QpType.RC,
    sendCq: cq,
    recvCq: cq,
    cap: { maxSendWr: 256, maxRecvWr: 32, maxSendSge: 1, maxRecvSge: 1 },
  });
  return { context, pd, cq, qp };
}

/** @param {HblFixture} fixture */
export function dropHblFixture({ context, pd, cq, qp }) {
  qp.close();
  cq.close();
  pd.close();
  context.close();
}

export const init = { qpState: QpState.INIT, portNum: 1, pkeyIndex: 0, qpAccessFlags: AccessFlags.REMOTE_WRITE };
export const rtr = {
  qpState: QpState.RTR,
  pathMtu: Mtu.MTU_1024,
  destQpNum: 0x111,
  rqPsn: 0x456,
  ahAttr: addressVector,
  maxDestRdAtomic: 4,
  minRnrTimer: 12,
};
export const rts = { qpState: QpState.RTS, sqPsn: 0x123, timeout: 14, retryCnt: 7, rnrRetry: 6, maxRdAtomic: 4 };

/** The one kind that a Gaudi2 takes. */
export const encapAttr = {
  portNum: 1,
  encapType: EncapType.ENC_OVER_UDP,
  ipv4Addr: '10.0.0.1',
  udpDstPort: 4789,
  header: Uint8Array.from({ length: 32 }, (_, index) => index + 1),
};
