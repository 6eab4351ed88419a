import type { Course, Packet } from './course.js';

/** The course of the pairs with that queue pair. The packets keep their numbers. */
export function ofQueuePair(course: Course, qpn: number): Course {
  const kept = course.pairs.filter(({ ends }) => ends.some((end) => end.qpn === qpn));
  const packets = course.packets.flatMap((packet): Packet[] => {
    const pair = kept.findIndex((each) => each === course.pairs[packet.pair]);
    return pair < 0 ? [] : [{ ...packet, pair }];
  });
  return { ...course, pairs: kept, packets };
}

/** As JSON: bytes are hexadecimal text, pairs count from 1, times are nanoseconds since `start`. */
export function courseJson({ packets, ...course }: Course): unknown {
  return {
    ...course,
    packets: packets.map(
      ({ number, pair, from, sent, received, name, role, psn, payload, length, marks, notes, bytes }) => ({
        ...{ number, pair: pair + 1, from, sent, received, name, role, psn, payload, length, marks, notes },
        ...(bytes && { bytes: Buffer.from(bytes).toString('hex') }),
      }),
    ),
  };
}
