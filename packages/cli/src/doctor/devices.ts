import { type DeviceInfo, type DeviceList, PortState, listDevices, openDevice } from '@verbs/core';
import { messageOf } from '@verbs/lib/failure';
import { mtuName, portStateName } from '../devinfo/names.js';
import { type Finding, fail, ok, warn } from './finding.js';

/** The devices that programs get, and whether each can be used. The last line says which is the default. */
export function checkDevices(): { findings: Finding[]; usable: boolean } {
  const list = listDevices();
  const checked = list.map((device) => ({ device, findings: checkDevice(device) }));
  const findings = checked.flatMap((each) => each.findings);
  const good = checked.filter((each) => each.findings.every(({ level }) => level !== 'fail'));
  return { findings: [...findings, verdict(list, good[0]?.device)], usable: good.length > 0 };
}

function verdict(list: DeviceList, used: DeviceInfo | undefined): Finding {
  const topic = 'verdict';
  const [first] = list;
  if (first === undefined || used === undefined) {
    const text = first === undefined ? `no device: ${list.reason ?? 'no library has one'}` : 'no device can be used';
    return fail(topic, text, 'the lines above give the reason');
  }
  if (used !== first) {
    const text = `programs that name no device get ${first.name}, which cannot be used`;
    return warn(
      topic,
      text,
      `name ${used.name}, which can be used: openDevice('${used.name}'), verbs ping -d ${used.name}`,
    );
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
