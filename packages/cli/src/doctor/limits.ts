import { bytesText } from '../text.js';
import { type Finding, ok, warn } from './finding.js';
import type { System } from './system.js';

/** The buffer sizes that the software NIC asks for its socket. */
const WANTED_BUFFER = 4 * 1024 * 1024;
/** Bit of CAP_NET_ADMIN, which may exceed the buffer limits. */
const CAP_NET_ADMIN = 12n;

/** Limits of this process and of the kernel that RDMA programs run into. */
export function checkLimits(system: System): Finding[] {
  return [lockedMemory(system), socketBuffer(system, 'rmem_max'), socketBuffer(system, 'wmem_max')];
}

function lockedMemory(system: System): Finding {
  const topic = 'locked memory';
  const limit = /^Max locked memory\s+(\S+)/m.exec(system.read('/proc/self/limits') ?? '')?.[1];
  if (limit === undefined) return warn(topic, 'the limit is unknown: /proc/self/limits is not readable', 'mount /proc');
  if (limit === 'unlimited') return ok(topic, 'unlimited');
  const bytes = Number(limit);
  const text = `at most ${bytesText(bytes)} (ulimit -l ${Math.floor(bytes / 1024)})`;
  if (system.list('/sys/class/infiniband').length === 0) return ok(topic, `${text}; the software NIC locks none`);
  return warn(
    topic,
    text,
    'hardware pins registered memory: ulimit -l unlimited, or memlock in /etc/security/limits.conf',
  );
}

function socketBuffer(system: System, name: 'rmem_max' | 'wmem_max'): Finding {
  const topic = `net.core.${name}`;
  const value = Number(system.read(`/proc/sys/net/core/${name}`) ?? NaN);
  if (Number.isNaN(value)) return ok(topic, 'not readable here; the software NIC takes what it gets');
  const text = `socket buffers up to ${bytesText(value)}`;
  if (value >= WANTED_BUFFER) return ok(topic, text);
  if (mayExceedLimits(system)) return ok(topic, `${text}, which this process may exceed`);
  return warn(
    topic,
    `${text}: bursts can be lost, and are sent again`,
    `as root: sysctl -w net.core.${name}=${WANTED_BUFFER}`,
  );
}

function mayExceedLimits(system: System): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)/m.exec(system.read('/proc/self/status') ?? '')?.[1];
  return effective !== undefined && ((BigInt(`0x${effective}`) >> CAP_NET_ADMIN) & 1n) === 1n;
}
