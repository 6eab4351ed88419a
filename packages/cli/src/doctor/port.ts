import { type Finding, fail, ok } from './finding.js';
import type { System } from './system.js';

const ROCE_PORT = 4791;

/** The holder of the RoCE port on an address. */
export interface Holder {
  address: string;
  inode: number;
  /** It is the kernel's soft-RoCE. */
  kernel: boolean;
  process?: { pid: number; name: string };
}

/** The UDP port of RoCE v2: is it free for the software NIC, and if not, which process holds it? */
export function checkPort(system: System): Finding[] {
  const topic = `UDP port ${ROCE_PORT}`;
  const holders = portHolders(system);
  if (holders.length === 0) return [ok(topic, 'free')];
  const all = holders.find(({ address }) => isAny(address));
  if (all === undefined) return [ok(topic, `in use on ${holders.map(describe).join(', ')}; other addresses are free`)];
  return [
    fail(
      topic,
      `held for all addresses by ${holderName(all)}`,
      all.kernel
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
  const rxe = system.list('/sys/module').includes('rdma_rxe');
  return sockets.map(({ uid, ...socket }) => {
    const pid = owners.get(socket.inode);
    if (pid === undefined) {
      // The kernel's sockets are root's and of no process; rxe has one for all addresses.
      const kernel = socket.inode === 0 || (rxe && uid === 0 && isAny(socket.address));
      return { ...socket, kernel };
    }
    const name = (system.read(`/proc/${pid}/comm`) ?? 'unknown').trim();
    return { ...socket, kernel: false, process: { pid, name } };
  });
}

const isAny = (address: string) => address === '0.0.0.0' || address === '::';

interface Socket {
  address: string;
  uid: number;
  inode: number;
}

/** Lines are: number, local address:port, remote address:port, state, queues, timer, retransmits, uid, timeout, inode. */
function socketsOf(table: string, addressText: (hex: string) => string): Socket[] {
  const sockets: Socket[] = [];
  for (const line of table.split('\n').slice(1)) {
    const fields = line.trim().split(/\s+/);
    const [address = '', port = ''] = (fields[1] ?? '').split(':');
    if (parseInt(port, 16) === ROCE_PORT)
      sockets.push({ address: addressText(address), uid: Number(fields[7] ?? 0), inode: Number(fields[9] ?? 0) });
  }
  return sockets;
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
  const reach = /^127\.|^::1$/.test(holder.address) ? '' : ', open to other hosts';
  return `${holder.address} by ${holderName(holder)}${reach}`;
}

function holderName({ kernel, process }: Holder): string {
  if (process !== undefined) return `${process.name} (process ${process.pid})`;
  return kernel ? 'the kernel (its soft-RoCE, rdma_rxe)' : 'a process of another user';
}
