import type { Course, Packet } from './course.js';

/** The course of the pairs with that queue pair. The packets keep their numbers. */
export function ofQueuePair(course: Course, qpn: number): Course {
  const indices = [...course.pairs.keys()].filter((i) => course.pairs[i]?.ends.some((end) => end.qpn === qpn));
  const kept = new Map(indices.map((index, place) => [index, place]));
  return {
    ...course,
    pairs: course.pairs.filter((_pair, index) => kept.has(index)),
    *packets(wanted) {
      for (const packet of course.packets({ ...wanted, pairs: new Set(indices) }))
        yield { ...packet, pair: kept.get(packet.pair) ?? 0 };
    },
  };
}

/**
 * A course as the lines of a JSON document, a packet in each: bytes are hexadecimal text, pairs count from 1, times are
 * nanoseconds since `start`.
 */
export function* courseJson({ file, start, duration, pairs, others, cutOff, packets }: Course): Generator<string> {
  const head = JSON.stringify({ file, start: start.toString(), duration, pairs, others, cutOff }, undefined, 2);
  yield `${head.slice(0, head.lastIndexOf('\n'))},\n  "packets": [`;
  const words = new Words();
  let line: string | undefined;
  for (const packet of packets()) {
    if (line !== undefined) yield `${line},`;
    line = `    ${packetJson(packet, words)}`;
  }
  if (line !== undefined) yield line;
  yield '  ]\n}';
}

/** JSON of the few texts and lists that all packets share. */
class Words {
  readonly #known = new Map<unknown, string>();

  of(value: string | readonly string[]): string {
    let text = this.#known.get(value);
    if (text === undefined) {
      if (this.#known.size > 1000) this.#known.clear();
      this.#known.set(value, (text = JSON.stringify(value)));
    }
    return text;
  }
}

/** What JSON.stringify() makes of it, in a third of the time. */
function packetJson(packet: Packet, words: Words): string {
  const { number, pair, from, sent, received, name, role, psn, payload, length, marks, notes, bytes } = packet;
  const times = `${sent === undefined ? '' : `,"sent":${sent}`}${received === undefined ? '' : `,"received":${received}`}`;
  const numbers = `"psn":${psn},"payload":${payload},"length":${length}`;
  const told = `"marks":${words.of(marks)},"notes":${words.of(notes)}`;
  const hex = bytes === undefined ? '' : `,"bytes":"${Buffer.from(bytes).toString('hex')}"`;
  return `{"number":${number},"pair":${pair + 1},"from":${from}${times},"name":${words.of(name)},"role":${words.of(role)},${numbers},${told}${hex}}`;
}
