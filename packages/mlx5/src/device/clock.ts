import type { Context } from '@verbs/core';
import { validate } from '@verbs/core/provider';
import { made } from '../base/calls.js';
import { forContext } from '../base/libraries.js';
import type { ClockInfo } from '../native/device.js';
import { native } from '../native/index.js';

/**
 * `mlx5dv_get_clock_info`: for {@link tsToNs}. It is valid for `maxClockInfoUpdateNsec` of {@link queryDevice}.
 *
 * @throws VerbsError EINVAL, EOPNOTSUPP
 */
export function getClockInfo(ctx: Context): ClockInfo {
  const syscall = 'mlx5dv_get_clock_info';
  const { library, handle } = forContext(ctx, syscall);
  return made(native.getClockInfo(library, handle), { library, syscall });
}

const U64 = (1n << 64n) - 1n;

/**
 * `mlx5dv_ts_to_ns`: a completion's timestamp (`wc.completionTimestamp`) in nanoseconds of the system's clock.
 *
 * @throws RangeError for a timestamp that is not 0 to 2^64 - 1
 * @example tsToNs(getClockInfo(ctx), wc.completionTimestamp);
 */
export function tsToNs(clockInfo: ClockInfo, deviceTimestamp: bigint): bigint {
  const { nsec, lastCycles, frac, mask } = clockInfo;
  const [mult, shift] = [BigInt(clockInfo.mult), BigInt(clockInfo.shift)];
  const ticks = BigInt(validate.u64(deviceTimestamp, 'deviceTimestamp'));
  const ahead = (ticks - lastCycles) & mask;
  // A distance of more than half the counter's range is a time in the past.
  if (ahead > mask / 2n) {
    const behind = (lastCycles - ticks) & mask;
    return (nsec - (((behind * mult - frac) & U64) >> shift)) & U64;
  }
  return (nsec + (((ahead * mult + frac) & U64) >> shift)) & U64;
}
