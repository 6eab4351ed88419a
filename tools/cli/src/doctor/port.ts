import { type Finding, fail, ok } from './finding.js';
import type { System } from './system.js';

const ROCE_PORT = 4791;

/** The holder of the RoCE port on an address. */
export interface Holder {
  address: string;
  /** The kernel's own sockets belong to no process. */
  inode: number;
  process?: { pid: number; name: string };
}

/** The UDP port of RoCE v2: is it free for the software NIC, and if not, which process holds it? */
export function checkPort(system: System): Finding[] {
  const topic = `UDP port ${ROCE_PORT}`;
  const holders = portHolders(system);
  if (holders.length === 0) return [ok(topic, 'free')];
  const all = holders.find(({ address }) => address === '0.0.0.0' || address === '::');
  if (all === undefined) return [ok(topic, `in use on ${holders.map(describe).join(', ')}; other addresses are free`)];
  return [
    fail(
      topic,
      `held for all addresses by ${holderName(all)}`,
      all.inode === 0
        ? 'as root: rdma link delete rxe0 (rdma link show prints the name), or modprobe -r rdma_rxe'
        : 'end that program, or let it bind one address only',
    ),
  ];
}

function portHolders(system: System): Holder[] {
  const sockets = [
    ...socketsOf(system.read('/proc/net/udp') ?? '', ipv4Text),
    ...socketsOf(system.read('/proc/net/udp6') ?? '', ipv6Text),
  ];
  const owners = sockets.some(({ inode }) => inode !== 0) ? socketOwners(system) : new Map<number, number>();
  return sockets.map((socket) => {
    const pid = owners.get(socket.inode);
    if (pid === undefined) return socket;
    return { ...socket, process: { pid, name: (system.read(`/proc/${pid}/comm`) ?? 'unknown').trim() } };
  });
}

/** Lines are: number, local address:port, remote address:port, state, queues, timer, retransmits, uid, timeout, inode. */
function socketsOf(table: string, addressText: (hex: string) => string): Holder[] {
  const holders: Holder[] = [];
  for (const line of table.split('\n').slice(1)) {
    const fields = line.trim().split(/\s+/);
    const [address = '', port = ''] = (fields[1] ?? '').split(':');
    if (parseInt(port, 16) === ROCE_PORT)
      holders.push({ address: addressText(address), inode: Number(fields[9] ?? 0) });
  }
  return holders;
}

/** The kernel prints addresses as words in the machine's byte order. */
function bytesOf(hex: string): number[] {
  const words = hex.match(/.{8}/g) ?? [];
  return words.flatMap((word) => (word.match(/../g) ?? []).reverse().map((byte) => parseInt(byte, 16)));
}

function ipv4Text(hex: string): string {
  return bytesOf(hex).join('.');
}

function ipv6Text(hex: string): string {
  const bytes = bytesOf(hex);
  if (bytes.every((byte) => byte === 0)) return '::';
  const groups = Array.from({ length: 8 }, (_, i) =>
    (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16),
  );
  // The URL parser knows the short spelling.
  return new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1);
}

/** From a socket's inode to the process that has it open; only the processes that this user may inspect. */
function socketOwners(system: System): Map<number, number> {
  const owners = new Map<number, number>();
  for (const pid of system.list('/proc').filter((name) => /^\d+$/.test(name))) {
    for (const descriptor of system.list(`/proc/${pid}/fd`)) {
      const inode = /^socket:\[(\d+)\]$/.exec(system.link(`/proc/${pid}/fd/${descriptor}`) ?? '')?.[1];
      if (inode !== undefined) owners.set(Number(inode), Number(pid));
    }
  }
  return owners;
}

function describe(holder: Holder): string {
  return `${holder.address} by ${holderName(holder)}`;
}

function holderName({ inode, process }: Holder): string {
  if (process !== undefined) return `${process.name} (process ${process.pid})`;
  return inode === 0 ? 'the kernel (its soft-RoCE, rdma_rxe)' : 'a process of another user';
}
