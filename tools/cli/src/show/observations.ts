import { crc32 } from 'node:zlib';
import { CaptureFileError, type Direction, FrameReader } from '@verbs/lib/capture-files';
import { dissect, type Ip, type Transport } from '@verbs/lib/packets';
import { Failure, fileFailure } from '@verbs/lib/failure';

/** More than all headers: the bytes that are kept of a packet. */
const KEPT = 256;

/** An RDMA packet as one end saw it. */
export interface Observation {
  /** Nanoseconds since 1970; 0 where the file has no times. */
  time: bigint;
  direction: Direction | undefined;
  link: 'ip' | 'ethernet';
  /** Its first bytes. */
  data: Uint8Array;
  /** Bytes on the wire. */
  length: number;
  /** Where the BTH begins. */
  at: number;
  ip: Ip;
  transport: Transport;
  payload: number;
  tunnels: readonly string[];
  message: string | undefined;
  icrc: boolean | undefined;
  /** A checksum over the packet from the BTH on: the same at both ends unless it was damaged between them. */
  sum: number;
}

export interface Observations {
  rdma: Observation[];
  /** Packets of other protocols. */
  others: number;
}

/** Reads the RDMA packets of a capture in the order of their times. */
export function observe(path: string): Observations {
  try {
    using reader = new FrameReader(path);
    const rdma: Observation[] = [];
    let others = 0;
    for (const { data, originalLength, timestamp, link = 'ethernet', direction } of reader.frames({
      rawIp: true,
      cutOff: 'read',
    })) {
      const { ip, transport, place, payload, tunnels, message, icrc } = dissect(data, link, originalLength);
      if (ip === undefined || transport === undefined || place === undefined) {
        others += 1;
        continue;
      }
      rdma.push({
        ...{ time: timestamp ?? 0n, direction, link, length: originalLength, at: place.at },
        ...{ ip, transport, payload, tunnels, message, icrc },
        data: data.slice(0, KEPT),
        sum: crc32(data.subarray(place.at, place.end)),
      });
    }
    // The sections of several processes follow each other in the file. The sort keeps the order of equal times.
    rdma.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
    return { rdma, others };
  } catch (error) {
    if (error instanceof CaptureFileError) throw new Failure(error.message, { cause: error });
    throw fileFailure(`cannot read the capture ${path}`, error);
  }
}
