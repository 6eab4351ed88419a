import { check } from './errors.js';
import { native } from './native.js';
import { processName } from './process-name.js';
import { type ReasonReport, reviveReason } from './reasons.js';

/** A process of this user that has a device of the software NIC open. */
export interface ProcessReport {
  /** Its process ID. */
  pid: number;
  /**
   * What a person calls it. For an interpreter, Node.js or Python for instance, the name of its script: the first argument
   * that is a file or a folder, or the module of `-m`. Else as `program`.
   */
  name: string;
  /** Its name as `ps` shows it: 'node' for most programs of Node.js. */
  program: string;
  /** Its open devices. */
  devices: DeviceReport[];
}

/** An open device of a process. */
export interface DeviceReport {
  /** Its name, 'soft0' for instance. */
  name: string;
  /** 'roce', or the kind of a vendor's model. */
  kind: string;
  /** Its ports, the first is port 1. */
  ports: PortReport[];
  /** As {@link SoftNic.stats} returns them. */
  counters: Record<string, bigint>;
  /** The number of its protection domains. */
  pdCount: number;
  /** The number of its completion queues. */
  cqCount: number;
  /** The number of its memory regions. */
  mrCount: number;
  /** The number of its shared receive queues. */
  srqCount: number;
  /** How often the process has it open. */
  contextCount: number;
  /** The number of its queue pairs; {@link queuePairs} has at most 4096 of them. */
  queuePairCount: number;
  /** The first 4096 of them, by number. */
  queuePairs: QueuePairReport[];
  /** What it dropped, failed and refused, oldest first: the last 64. */
  reasons: ReasonReport[];
}

/** A port of an open device. */
export interface PortReport {
  /** Whether it can send. */
  state: 'ACTIVE' | 'DOWN';
  /** The active MTU in bytes. */
  mtu: number;
  /** The GID at index 0. */
  gid: string;
}

/** A queue pair of an open device. */
export interface QueuePairReport {
  /** Its number, 24 bits. */
  qpNum: number;
  /** 'RC', 'UC', 'UD', 'XRC_SEND', 'XRC_RECV', 'RAW_PACKET' or 'DRIVER'. */
  type: string;
  /** 'RESET', 'INIT', 'RTR', 'RTS', 'SQD', 'SQE' or 'ERR'. */
  state: string;
  /** The number of the peer's queue pair; 0 without one. */
  destQpNum: number;
  /** The GID of the peer; '::' without one. */
  destGid: string;
  /** Posted send requests that are not complete. */
  postedSends: number;
  /** Posted receives that are not complete. */
  postedReceives: number;
  /** RC and XRC: how many packets may be unacknowledged. */
  window: number;
  /** RC and XRC: how many packets are unacknowledged. */
  inFlight: number;
  /** The next PSN to send, 24 bits. The difference of two reports is the number of packets between them. */
  sentPsn: number;
  /** The next PSN to receive, 24 bits. */
  receivedPsn: number;
  /** Packets that it sent again. */
  retransmittedPackets: bigint;
  /** Received RNR NAKs: how often the peer had no receive posted. */
  rnrNaks: bigint;
  /** Smoothed, in nanoseconds; 0 until the first acknowledgement. */
  roundTripNs: bigint;
  /** It retransmits after a loss. */
  recovering: boolean;
  /** It waits because the peer had no receive posted. */
  waitingRnr: boolean;
}

/**
 * The processes of this user that have a device of the software NIC open, in the order of their IDs, this one included;
 * those in containers with a network of their own are not among them. Each process answers from a thread that sleeps until
 * somebody asks; `VERBS_SOFT_PUBLISH=0` in its environment switches that off. All are asked at a time; those that do
 * not answer within 300 ms (stopped ones) are left out. Wraps `verbs_soft_processes`.
 *
 * @throws SoftError ENOMEM.
 * @example
 * for (const { pid, name, devices } of processes()) console.log(pid, name, devices.map((device) => device.name));
 */
export function processes(): ProcessReport[] {
  const reports = native().processes();
  if (typeof reports === 'number') {
    check(reports, 'verbs_soft_processes');
    return [];
  }
  return reports.flatMap(({ pid, report }) => readReport(pid, report)).sort((a, b) => a.pid - b.pid);
}

/** The members of a report that are 64-bit numbers. JSON has them as text. */
const BIGINTS = new Set(['retransmittedPackets', 'rnrNaks', 'roundTripNs']);
const VERSION = 1;

function readReport(pid: number, text: string): ProcessReport[] {
  try {
    const { version, program, devices } = JSON.parse(text, (key, value: unknown) =>
      key === 'counters'
        ? counters(value as Record<string, string>)
        : BIGINTS.has(key)
          ? BigInt(value as string)
          : reviveReason(key, value),
    ) as { version: number; program: string; devices: DeviceReport[] };
    // A process may have another release of the NIC, of before it had reasons.
    for (const device of devices) (device as Partial<DeviceReport>).reasons ??= [];
    return version === VERSION ? [{ pid, name: processName(pid, program), program, devices }] : [];
  } catch {
    // Of another version of this package, or cut off: its process ended meanwhile.
    return [];
  }
}

function counters(texts: Record<string, string>): Record<string, bigint> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, BigInt(text)]));
}
