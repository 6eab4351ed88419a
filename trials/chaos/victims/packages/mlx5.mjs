import { openDevice } from '@verbs/mlx5';
import { rcSide } from '../rc-side.mjs';

/** RC on a device that @verbs/mlx5 opened. */
export function openSide({ device, me, seed, mode }) {
  const context = openDevice(device);
  return rcSide({ context, pd: context.allocPd(), me, seed, mode });
}
