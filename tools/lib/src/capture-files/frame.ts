export type CaptureFormat = 'pcap' | 'pcapng';

/** An Ethernet frame of a capture file. */
export interface CapturedFrame {
  /** The captured bytes. From a reader: a view that the next frame overwrites. */
  data: Uint8Array;
  /** Bytes on the wire; the capture may hold fewer. */
  originalLength: number;
  /** Nanoseconds since 1970; undefined where the file has none (a simple packet block). */
  timestamp: bigint | undefined;
}

/** A damaged or unsupported capture file. The message names the file. */
export class CaptureFileError extends Error {
  constructor(path: string, problem: string) {
    super(`${path} ${problem}`);
    this.name = 'CaptureFileError';
  }
}

export const LINK_ETHERNET = 1;
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
