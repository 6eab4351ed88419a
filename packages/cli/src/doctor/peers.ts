import { processes, type ProcessReport } from '@verbs/soft';
import { addressText } from '../text.js';
import { type Finding, warn } from './finding.js';

/**
 * The peers whose packets the software NICs of this user's processes have dropped: each of the last 64 events of a device,
 * once for each address and reason.
 */
export function checkPeers(all: readonly ProcessReport[] = processes()): Finding[] {
  const findings = new Map<string, Finding>();
  for (const { name, pid, devices } of all) {
    for (const { place, peerGid, reason, text, help } of devices.flatMap((device) => device.reasons)) {
      if (place !== 'arrival' || peerGid === undefined) continue;
      const said = `packets from ${addressText(peerGid)} were dropped: ${text}`;
      findings.set(`${pid} ${peerGid} ${reason}`, warn(`process ${pid} (${name})`, said, help));
    }
  }
  return [...findings.values()];
}
