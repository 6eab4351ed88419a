import type { DeviceInfo, DeviceList } from '@verbs/core';
import { Failure } from '@verbs/lib/failure';
import { report } from '../output.js';

/** What `take` makes of each device. The error of one is printed, and the exit code is 1: it hides none of the others. */
export function ofEach<T>(devices: readonly DeviceInfo[], take: (device: DeviceInfo) => T): T[] {
  return devices.flatMap((device) => {
    try {
      return [take(device)];
    } catch (error) {
      process.exitCode = report(error);
      return [];
    }
  });
}

/** The failure where there is no device, or none of that name. */
export function noDevice(all: DeviceList, name?: string): Failure {
  if (all.length === 0) {
    return new Failure(`no RDMA device found: ${all.reason ?? 'no library has one'}`, {
      hint: '"verbs doctor" names the remedy',
    });
  }
  return new Failure(`there is no device ${name ?? ''}`, {
    hint: `there is ${all.map((device) => device.name).join(', ')}`,
  });
}
