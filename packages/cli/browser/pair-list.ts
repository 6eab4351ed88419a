import type { Mark, Pair } from '../src/show/course.js';
import { html } from './dom.js';
import { hex } from './packet.js';

const WORDS: Readonly<Record<Mark, string>> = {
  lost: 'lost',
  missing: 'not captured',
  damaged: 'damaged',
  nak: 'NAK',
  rnr: 'RNR NAK',
  retransmission: 'retransmitted',
  repeated: 'repeated',
};

/** The way to each state; the end is drawn where it is at least. */
const STATES = {
  RTR: ['RESET', 'INIT', 'RTR', 'RTS'],
  RTS: ['RESET', 'INIT', 'RTR', 'RTS'],
  ERR: ['RESET', 'INIT', 'RTR', 'RTS', 'ERR'],
} as const;

/** The pairs of queue pairs, with a box for each: those that are ticked are drawn. */
export class PairList {
  readonly element = html('ul', { class: 'pairs', 'aria-label': 'Pairs of queue pairs' });
  readonly #boxes: { box: HTMLInputElement; item: HTMLElement; text: string }[];
  readonly #changed: () => void;

  constructor(pairs: readonly Pair[], ticked: (index: number) => boolean, changed: () => void) {
    this.#changed = changed;
    this.#boxes = pairs.map((pair, i) => {
      const box = html('input', { type: 'checkbox' });
      box.checked = ticked(i);
      box.addEventListener('change', changed);
      const marks = Object.entries(pair.marks).map(([mark, count]) =>
        html('span', { class: mark }, `${count} ${WORDS[mark as Mark]}`),
      );
      const counts = html('span', { class: 'counts' }, `${pair.packets} packets, ${pair.bytes} bytes`);
      const item = html(
        'li',
        {},
        html('label', {}, box, html('b', {}, pairText(pair)), counts, ...marks),
        html('p', { class: 'states' }, ...pair.ends.flatMap(statesOf)),
      );
      return { box, item, text: pairText(pair).toLowerCase() };
    });
    this.element.append(...this.#boxes.map(({ item }) => item));
  }

  ticked(index: number): boolean {
    const entry = this.#boxes[index];
    return entry !== undefined && entry.box.checked && !entry.item.hidden;
  }

  /** Ticks a pair, beside the others or alone. */
  draw(index: number, beside: boolean): void {
    if (this.#boxes[index]?.box.checked === true) return;
    for (const [i, { box }] of this.#boxes.entries()) box.checked = i === index || (beside && box.checked);
    this.#changed();
  }

  /** Ticks all that are listed, or none. */
  tick(all: boolean): void {
    for (const { box, item } of this.#boxes) box.checked = all && !item.hidden;
    this.#changed();
  }

  /** Lists those whose text has these words: addresses, queue pair numbers. A match that is alone is ticked. */
  filter(words: string): void {
    const wanted = words.toLowerCase().split(/\s+/);
    for (const { item, text } of this.#boxes) item.hidden = !wanted.every((word) => text.includes(word));
    const listed = this.#boxes.filter(({ item }) => !item.hidden);
    if (words !== '' && listed.every(({ box }) => !box.checked))
      for (const { box } of listed.slice(0, 1)) box.checked = true;
    this.#changed();
  }
}

export function endText({ address, qpn }: Pair['ends'][number]): string {
  return `${address} QP ${qpn === undefined ? '?' : hex(qpn)}`;
}

/** Where an end stands, by what its packets show; nothing where they show nothing. */
function statesOf(end: Pair['ends'][number]): HTMLElement[] {
  if (end.state === undefined) return [];
  const states = STATES[end.state].map((name) => (name === end.state ? html('b', { class: name }, name) : name));
  const way = states.flatMap((state, i) => (i === 0 ? [state] : [' › ', state]));
  return [html('span', {}, `${end.qpn === undefined ? end.address : `QP ${hex(end.qpn)}`}: `, ...way)];
}

function pairText({ transport, ends, tunnel }: Pair): string {
  return `${transport} ${endText(ends[0])} – ${endText(ends[1])}${tunnel === '' ? '' : ` in ${tunnel}`}`;
}
