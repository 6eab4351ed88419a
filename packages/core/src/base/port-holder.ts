import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { native } from './native.js';

interface Socket {
  /** As GID text. */
  address: string;
  port: number;
  inode: number;
}

const LISTENS = '0A';
const ANY = new Set(['::', '::ffff:0.0.0.0']);

/**
 * Who holds a port of this machine at an address (IPv6 text, IPv4 in its form), in words; undefined if nobody does, or
 * the system does not tell.
 */
export function portHolder(protocol: 'tcp' | 'udp', port: number, address: string): string | undefined {
  try {
    const held = sockets(protocol).find((socket) => {
      return socket.port === port && (socket.address === address || ANY.has(socket.address) || ANY.has(address));
    });
    if (held === undefined) return undefined;
    const pid = held.inode === 0 ? undefined : processOf(held.inode);
    if (pid !== undefined) return `process ${pid} (${readFileSync(`/proc/${pid}/comm`, 'utf8').trim()})`;
    return 'a process of another user, or the kernel ("ss -lnp" as root names a process)';
  } catch {
    return undefined;
  }
}

/** Lines are: number, local address:port, remote address:port, state, queues, timer, retransmits, uid, timeout, inode. */
function sockets(protocol: 'tcp' | 'udp'): Socket[] {
  return [protocol, `${protocol}6`].flatMap((table) => {
    const lines = readFileSync(`/proc/net/${table}`, 'latin1').split('\n').slice(1, -1);
    return lines.flatMap((line) => {
      const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
      const [address = '', port = ''] = local.split(':');
      if (protocol === 'tcp' && state !== LISTENS) return [];
      return [{ address: addressText(address), port: parseInt(port, 16), inode: Number(inode) }];
    });
  });
}

/** 32-bit words in the machine's byte order, in hexadecimal. */
function addressText(words: string): string {
  const bytes = new Uint8Array(16);
  const values = (words.match(/.{8}/g) ?? []).map((word) => parseInt(word, 16));
  const part = new Uint8Array(Uint32Array.from(values).buffer);
  if (part.length === 4) bytes.set([0xff, 0xff], 10);
  bytes.set(part, 16 - part.length);
  return native.formatGid(bytes);
}

function processOf(inode: number): string | undefined {
  const link = `socket:[${inode}]`;
  return readdirSync('/proc').find((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === link);
    } catch {
      return false; // another user's, or one that has ended
    }
  });
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // closed meanwhile
  }
}
