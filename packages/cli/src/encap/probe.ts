import type { Context } from '@verbs/core';
import type * as hblModule from '@verbs/hbl';
import { codeOf } from '@verbs/lib/failure';

type Hbl = typeof hblModule;

/** A port's resources for encapsulated traffic and for doorbells. */
export interface PortReport {
  device: string;
  library: string;
  portNum: number;
  /** A port whose network interface is down reports nothing and creates nothing. */
  down: boolean;
  encaps?: {
    /** How many there are, as the port says; a gaudi2 says more than it has. */
    reported: number;
    /** The free numbers. */
    free: number[];
    /** The types that the port accepts, with a header of 32 bytes. */
    types: string[];
  };
  usrFifos?: {
    reported: number;
    free: number[];
    types: string[];
    /** Of the first free one; 8 bytes are an entry. */
    sizeBytes?: number;
    bpThreshBytes?: number;
  };
}

/** More than any port has, so that a device which never refuses ends this. */
const MOST = 256;
const HEADER_BYTES = 32;

/**
 * Probes a port. No function lists the free resources: each kind is created until the port fails, and closed at once.
 */
export function probePort(hbl: Hbl, context: Context, portNum: number): PortReport {
  const { name, library } = context.device;
  const port = { device: name, library, portNum };
  let limits: hblModule.QueryPortAttr;
  try {
    limits = hbl.queryPort(context, portNum);
  } catch (error) {
    if (codeOf(error) === 'ENODEV') return { ...port, down: true };
    throw error;
  }
  return {
    ...port,
    down: false,
    encaps: { reported: limits.maxNumOfEncaps, ...probeEncaps(hbl, context, portNum) },
    usrFifos: { reported: limits.maxNumOfUsrFifos, ...probeFifos(hbl, context, portNum) },
  };
}

function probeEncaps(hbl: Hbl, context: Context, portNum: number) {
  const good = candidates(hbl, portNum).filter(([, attr]) => taken(() => hbl.createEncap(context, attr), 1).length > 0);
  const [first] = good;
  const all = first === undefined ? [] : taken(() => hbl.createEncap(context, first[1]));
  return { free: all.map(({ encapNum }) => encapNum), types: good.map(([name]) => name) };
}

function probeFifos(hbl: Hbl, context: Context, portNum: number) {
  const make = (usrFifoType: number) => () => hbl.createUsrFifo(context, { portNum, usrFifoType });
  const good = Object.entries(hbl.UsrFifoType).filter(([, type]) => taken(make(type), 1).length > 0);
  const [first] = good;
  const all = first === undefined ? [] : taken(make(first[1]));
  const [fifo] = all;
  return {
    free: all.map(({ usrFifoNum }) => usrFifoNum),
    types: good.map(([name]) => name),
    ...(fifo !== undefined && { sizeBytes: fifo.size, bpThreshBytes: fifo.bpThresh }),
  };
}

function candidates({ EncapType }: Hbl, portNum: number): [name: string, attr: hblModule.EncapAttr][] {
  const header = new Uint8Array(HEADER_BYTES);
  return [
    ['NO_ENC', { portNum, encapType: EncapType.NO_ENC }],
    ['ENC_OVER_IPV4', { portNum, encapType: EncapType.ENC_OVER_IPV4, ipProto: 47, header }],
    ['ENC_OVER_UDP', { portNum, encapType: EncapType.ENC_OVER_UDP, udpDstPort: 4789, header }],
  ];
}

/** Errors that end the probing; every other error is a failure. */
const REFUSALS = new Set(['EBUSY', 'EINVAL', 'EOPNOTSUPP', 'EPERM']);

/** Creates up to `most` resources and closes them all. */
function taken<T extends { close(): void }>(make: () => T, most = MOST): T[] {
  const all: T[] = [];
  try {
    while (all.length < most) all.push(make());
  } catch (error) {
    if (!REFUSALS.has(codeOf(error) ?? '')) throw error;
  } finally {
    for (const each of all) each.close();
  }
  return all;
}
