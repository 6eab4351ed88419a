import type { Context } from '@verbs/core';
import type * as hblModule from '@verbs/hbl';
import { codeOf } from '@verbs/lib/failure';

type Hbl = typeof hblModule;

/** What a port has for encapsulated traffic and for doorbells. */
export interface PortReport {
  device: string;
  library: string;
  portNum: number;
  /** A port whose network interface is down tells nothing and gives nothing. */
  down: boolean;
  encaps?: {
    /** How many there are, as the port says; a gaudi2 says more than it has. */
    reported: number;
    /** The numbers that were to be had. */
    free: number[];
    /** The types that the port takes, with a header of 32 bytes. */
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
 * Looks at a port. There is no function that lists what is free: each resource is made until the port refuses, and
 * given back at once.
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

/** Refusals that are the answer to the question; every other error is one. */
const REFUSALS = new Set(['EBUSY', 'EINVAL', 'EOPNOTSUPP', 'EPERM']);

/** What can be made, up to `most`. All of it is closed again. */
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
