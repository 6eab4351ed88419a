/** @import { HblScenario } from './fixture.mjs' */
import {
  createUsrFifo,
  MemId,
  openDevice,
  PortCaps,
  queryDevice,
  queryPort,
  setPortEx,
  SwqGranularity,
} from '@verbs/hbl';
import { errnoOf, saw } from '../scenario.mjs';
import { openPorts } from './fixture.mjs';

/** @type {Record<string, HblScenario>} */
export const deviceScenarios = {
  'hbl-open': (device) => {
    const context = openPorts(device);
    const { caps, portsMask } = queryDevice(context);
    saw(`caps ${caps}, ports ${portsMask}`);
    context.close();
  },

  'hbl-open-all': (device) => {
    openDevice(device, {}).close();
  },

  'hbl-default-open': (device) => {
    const context = openDevice(device);
    saw(
      `setting up a port: ${errnoOf(() => {
        setPortEx(context, { portNum: 1 });
      })}`,
    );
    createUsrFifo(context, { portNum: 1 }).close();
    context.close();
  },

  'hbl-default-open-twice': (device) => {
    const first = openDevice(device);
    openDevice(device).close();
    saw(`after one close: ${errnoOf(() => queryPort(first, 1))}`);
    first.close();
  },

  'hbl-set-port': (device) => {
    const context = openPorts(device);
    const attr = {
      portNum: 2,
      caps: PortCaps.ADVANCED | PortCaps.ADAPTIVE_TIMEOUT,
      wqArrAttr: [0, 1, 2, 3, 4].map((index) => ({
        maxNumOfWqs: index + 1,
        maxNumOfWqesInWq: 16 << index,
        memId: index % 2 === 0 ? MemId.HOST : MemId.DEVICE,
        swqGranularity: index % 2 === 0 ? SwqGranularity.GRAN_32B : SwqGranularity.GRAN_64B,
      })),
      qpWqBpOffs: Array.from({ length: 16 }, (_, index) => 0x1000 + 4 * index),
    };
    setPortEx(context, attr);
    saw(
      `again: ${errnoOf(() => {
        setPortEx(context, attr);
      })}`,
    );
    context.close();
  },

  'hbl-query-port': (device) => {
    const context = openPorts(device);
    const attr = queryPort(context, 2);
    saw(`${attr.maxNumOfQps} ${attr.numAllocatedQps} ${attr.maxAllocatedQpNum} ${attr.maxCqSize}`);
    saw(`${attr.maxNumOfCqs} ${attr.maxNumOfUsrFifos} ${attr.maxNumOfEncaps} ${attr.nicPhysPortIdx}`);
    const port0 = errnoOf(() => queryPort(context, 0));
    saw(`port 0: ${port0}, port 3: ${errnoOf(() => queryPort(context, 3))}`);
    context.close();
  },

  'hbl-queries': (device) => {
    const context = openPorts(device);
    context.queryDevice();
    context.queryPort(1);
    context.queryGid(1, 3);
    context.close();
  },
};
