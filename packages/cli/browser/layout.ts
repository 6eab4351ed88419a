import type { LadderPacket } from './packet.js';

const ROW = 26;
const ARRIVAL = 5;
const LEAST_SLOPE = 8;
const TOP = 24;
const BOTTOM = 40;
/** Pauses from here on take space. */
const PAUSE = 50_000;
const MOST_SPACE = 56;

/** Where a packet is drawn: it leaves at `from`, and arrives at `to`, in pixels from the top. */
export interface PlacedPacket {
  packet: LadderPacket;
  from: number;
  to: number;
  /** Nanoseconds since the event before, if that is long. */
  pause: number | undefined;
}

export interface Layout {
  /** In the order of `from`. */
  placed: PlacedPacket[];
  height: number;
  /** The longest way down from `from` to `to`: how far above the window a visible packet may begin. */
  reach: number;
}

/** Gives every packet its place. The order is that of the times; long pauses are drawn shorter than they are. */
export function layOut(packets: readonly LadderPacket[]): Layout {
  const placed = packets.map((packet): PlacedPacket => ({ packet, from: 0, to: 0, pause: undefined }));
  const events = placed.flatMap((place) => {
    const { sent, received } = place.packet;
    const leaves = { time: sent ?? received ?? 0, place, arrives: false };
    return sent === undefined || received === undefined ? [leaves] : [leaves, { time: received, place, arrives: true }];
  });
  events.sort((a, b) => a.time - b.time || Number(a.arrives) - Number(b.arrives));
  let y = TOP;
  let before = events[0]?.time ?? 0;
  for (const { time, place, arrives } of events) {
    const pause = time - before;
    before = time;
    y += pause > PAUSE ? Math.min(MOST_SPACE, 14 * Math.log10(pause / PAUSE)) : 0;
    y += arrives ? ARRIVAL : ROW;
    if (arrives) place.to = Math.max(y, place.from + LEAST_SLOPE);
    else {
      place.from = y;
      place.to = y + LEAST_SLOPE;
      if (pause >= 1e6) place.pause = pause;
    }
  }
  placed.sort((a, b) => a.from - b.from);
  const reach = placed.reduce((most, { from, to }) => Math.max(most, to - from), 0);
  return { placed, height: y + BOTTOM, reach };
}

/** The packets that cross a part of the ladder. */
export function visible({ placed, reach }: Layout, top: number, bottom: number): PlacedPacket[] {
  let low = 0;
  let high = placed.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((placed[middle]?.from ?? 0) < top - reach) low = middle + 1;
    else high = middle;
  }
  const found: PlacedPacket[] = [];
  for (let i = low, place; (place = placed[i]) !== undefined && place.from <= bottom; i++) {
    if (place.to >= top) found.push(place);
  }
  return found;
}
