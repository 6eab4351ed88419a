import type { Observation } from './observations.js';

/** A packet on its way: what the sender saw, what the receiver saw. At least one of them is there. */
export interface Transmission {
  /** What is known of it: the sender's view if there is one. */
  seen: Observation;
  sent?: bigint;
  received?: bigint;
  /** The receiver's capture is there, but not this packet. */
  lost: boolean;
  /** Its bytes changed on the way, or its checksum is wrong. */
  damaged: boolean;
}

/** Sent packets that may still arrive, for packets whose addresses or numbers are damaged. */
const PENDING = 64;
const MOST_DAMAGED_BYTES = 8;

/** Joins what senders and receivers saw. Observations are in the order of their times. */
export function join(observations: readonly Observation[]): Transmission[] {
  const receivers = new Set(
    observations.filter(({ direction }) => direction === 'received').map(({ ip }) => ip.destination),
  );
  const waiting = new Map<string, Transmission[]>();
  const pending: Transmission[] = [];
  const all: Transmission[] = [];
  for (const seen of observations) {
    const key = keyOf(seen);
    if (seen.direction === 'received') {
      // The latest: an earlier one with the same number was lost, or else there would be no second.
      const match = waiting.get(key)?.pop() ?? damagedMatch(pending, seen);
      if (match !== undefined) {
        match.received = seen.time;
        match.damaged ||= match.seen.sum !== seen.sum || seen.icrc === false;
        match.lost = false;
        continue;
      }
    }
    const transmission: Transmission = { seen, lost: false, damaged: seen.icrc === false };
    all.push(transmission);
    if (seen.direction === 'received') {
      transmission.received = seen.time;
      continue;
    }
    transmission.sent = seen.time;
    transmission.lost = seen.direction === 'sent' && receivers.has(seen.ip.destination);
    const list = waiting.get(key);
    if (list === undefined) waiting.set(key, [transmission]);
    else list.push(transmission);
    pending.push(transmission);
    if (pending.length > PENDING) pending.shift();
  }
  return all;
}

function keyOf({ ip, transport }: Observation): string {
  const { destQpn, psn, opcode, syndrome } = transport;
  return [ip.source, ip.destination, destQpn, psn, opcode?.name, syndrome].join('|');
}

function damagedMatch(pending: readonly Transmission[], { ip, icrc, data, length }: Observation) {
  if (icrc !== false) return undefined;
  return pending.findLast(
    ({ seen, received }) =>
      received === undefined &&
      seen.ip.source === ip.source &&
      seen.ip.destination === ip.destination &&
      seen.length === length &&
      data.reduce((count, byte, i) => count + Number(byte !== seen.data[i]), 0) <= MOST_DAMAGED_BYTES,
  );
}
