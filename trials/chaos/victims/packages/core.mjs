import { openDevice } from '@verbs/core';
import { rcSide } from '../rc-side.mjs';

/** RC by @verbs/core alone. */
export function openSide({ device, me, seed, mode }) {
  const context = openDevice(device);
  const pd = context.allocPd();
  return rcSide({ context, pd, me, seed, mode });
}
