/** @import { Scenario } from './scenario.mjs' */
import { AccessFlags, MwType, Rate } from '@verbs/core';
import { addressVector } from './fixture.mjs';

/** @type {Record<string, Scenario>} */
export const memoryScenarios = {
  regions: (context) => {
    const pd = context.allocPd();
    const rights = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ;
    const first = pd.allocMr(4096, rights);
    const second = pd.regMr(first.bytes.subarray(64, 1064), 0);
    const moved = pd.allocMr(4096, rights | AccessFlags.RELAXED_ORDERING, { iova: 0x7000n });
    moved.close();
    second.close();
    first.close();
    pd.close();
  },

  'address-handles': (context) => {
    const pd = context.allocPd();
    const ah = pd.createAh(addressVector);
    const other = pd.createAh({ ...addressVector, srcPathBits: 1, staticRate: Rate.GBPS_10, dlid: 5 });
    other.close();
    ah.close();
    pd.close();
  },

  windows: (context) => {
    const pd = context.allocPd();
    const one = pd.allocMw(MwType.TYPE_1);
    const two = pd.allocMw(MwType.TYPE_2);
    two.close();
    one.close();
    pd.close();
  },
};
