import { type DeviceInfo, PortState, listDevices, openDevice } from '@verbs/core';
import { messageOf } from '@verbs/lib/failure';
import { mtuName, portStateName } from '../devinfo/names.js';
import { type Finding, fail, ok, warn } from './finding.js';

/** The devices that programs get, and whether each can be used. The last line says which is the default. */
export function checkDevices(): { findings: Finding[]; usable: boolean } {
  const list = listDevices();
  const checked = list.map((device) => ({ device, findings: checkDevice(device) }));
  const findings = checked.flatMap((each) => each.findings);
  const good = checked.filter((each) => each.findings.every(({ level }) => level !== 'fail'));
  return { findings: [...findings, verdict(list, good[0]?.device, list.reason)], usable: good.length > 0 };
}

function verdict(list: readonly DeviceInfo[], used: DeviceInfo | undefined, reason: string | undefined): Finding {
  const topic = 'verdict';
  if (used === undefined) {
    const text = list.length === 0 ? `no device: ${reason ?? 'no library has one'}` : 'no device can be used';
    return fail(topic, text, 'the lines above give the reason');
  }
  if (used.library === 'system') return ok(topic, `programs use ${used.name}, a hardware device`);
  return ok(topic, `there is no hardware device; programs use ${used.name}, the software NIC`);
}

function checkDevice(device: DeviceInfo): Finding[] {
  const topic = `device ${device.name}`;
  try {
    using context = openDevice(device);
    const { physPortCnt } = context.queryDevice();
    return Array.from({ length: physPortCnt }, (_, i) => i + 1).map((portNum) => {
      const { state, activeMtu } = context.queryPort(portNum);
      const gids = context.gidTable(portNum).map(({ index, gid }) => `GID ${index} ${gid}`);
      const text = `port ${portNum} ${portStateName(state)}, MTU ${mtuName(activeMtu)}, ${gids.join(', ') || 'no GID'}`;
      if (state !== PortState.ACTIVE) return warn(topic, text, 'connect the cable, or bring the network interface up');
      return gids.length > 0 ? ok(topic, text) : warn(topic, text, 'give the network interface an address');
    });
  } catch (error) {
    return [fail(topic, messageOf(error), 'the lines above give the reason')];
  }
}
