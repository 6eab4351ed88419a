export type CaptureFormat = 'pcap' | 'pcapng';

export type Direction = 'sent' | 'received';

/** A frame of a capture file: an Ethernet frame, or an IP packet where the reader takes them. */
export interface CapturedFrame {
  /** Undefined: 'ethernet'. */
  link?: 'ip' | 'ethernet';
  /** Where the file tells it. */
  direction?: Direction;
  /** The captured bytes. From a reader: a view that the next frame overwrites. */
  data: Uint8Array;
  /** Bytes on the wire; the capture may hold fewer. */
  originalLength: number;
  /** Nanoseconds since 1970; undefined where the file has none (a simple packet block). */
  timestamp: bigint | undefined;
}

/**
 * A frame of a capture file as its reader finds it, in numbers. There is one of these for all frames, since captures have
 * millions: each one overwrites the one before, the bytes too.
 */
export class FrameRecord {
  /** Where its record begins in the file, and where it ends. */
  at = 0;
  next = 0;
  link: 'ip' | 'ethernet' = 'ethernet';
  direction: Direction | undefined;
  /** The captured bytes: so many of `view`, from `offset` on. */
  view = new DataView(new ArrayBuffer(0));
  offset = 0;
  size = 0;
  /** Bytes on the wire. */
  length = 0;
  /** Whether the file has a time for it: nanoseconds since 1970 in two halves, `high` with a sign; else both are 0. */
  timed = false;
  high = 0;
  low = 0;

  get bytes(): Uint8Array {
    return new Uint8Array(this.view.buffer, this.view.byteOffset + this.offset, this.size);
  }

  /** A time of more than 63 bits is the latest or the earliest one. */
  set nanoseconds(value: bigint) {
    const clamped = value > LATEST ? LATEST : value < -LATEST ? -LATEST : value;
    this.high = Number(clamped >> 32n);
    this.low = Number(clamped & 0xffff_ffffn);
  }

  get nanoseconds(): bigint {
    return (BigInt(this.high) << 32n) | BigInt(this.low);
  }
}

const LATEST = (1n << 63n) - 1n;

export interface FrameOptions {
  /** Takes IP packets too. Default: Ethernet frames only. */
  rawIp?: boolean;
  /** A file that is cut off in its last frame: 'read' the frames before it, or 'refuse' the file (default). */
  cutOff?: 'read' | 'refuse';
}

/** A damaged or unsupported capture file. The message names the file. */
export class CaptureFileError extends Error {
  constructor(path: string, problem: string) {
    super(`${path} ${problem}`);
    this.name = 'CaptureFileError';
  }
}

export const LINK_ETHERNET = 1;
/** IP packets of both versions without a header in front, under their standard number and those of two systems. */
const LINKS_IP = [101, 12, 14, 228, 229];

/** The first header of the frames of a link type; undefined if it is none of those that the caller takes. */
export function linkOf(linkType: number, rawIp: boolean): 'ip' | 'ethernet' | undefined {
  if (linkType === LINK_ETHERNET) return 'ethernet';
  return rawIp && LINKS_IP.includes(linkType) ? 'ip' : undefined;
}

/** libpcap's own limit. */
export const MAX_FRAME = 262_144;

const LINK_NAMES: Readonly<Record<number, string>> = {
  0: 'BSD loopback',
  101: 'raw IP',
  105: 'IEEE 802.11',
  113: 'Linux cooked',
  127: 'radiotap',
  228: 'raw IPv4',
  229: 'raw IPv6',
  276: 'Linux cooked v2',
};

export function foreignLink(path: string, linkType: number): CaptureFileError {
  const name = LINK_NAMES[linkType];
  const what = name === undefined ? `link type ${linkType}` : `link type ${linkType} (${name})`;
  return new CaptureFileError(path, `has packets of ${what}, and only Ethernet frames can be taken`);
}
