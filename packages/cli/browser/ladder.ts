import type { Pair } from '../src/show/course.js';
import { arrow, type Rails } from './arrow.js';
import { html, svg } from './dom.js';
import { type Layout, layOut, type PlacedPacket, visible } from './layout.js';
import { hex, type LadderPacket, timeText } from './packet.js';

const AXIS = 86;
const LEAST_LANE = 230;
const MARGIN = 56;
const NARROW_MARGIN = 16;
const HEAD_HEIGHT = 44;
/** Above and below the window, so that a short scroll shows no gap. */
const SPARE = 400;

export interface LadderEvents {
  point: (packet: LadderPacket) => void;
  choose: (packet: LadderPacket) => void;
}

/** The drawing: a time axis, two rails for each chosen pair, an arrow for each packet. Only what is in the window exists. */
export class Ladder {
  readonly element = html('div', { class: 'stage' });
  readonly #heads = html('div', { class: 'heads' });
  readonly #canvas = html('div', { class: 'canvas' });
  readonly #events: LadderEvents;
  #pairs: readonly { pair: Pair; index: number }[] = [];
  #layout: Layout = { placed: [], height: 0, reach: 0 };
  #chosen: number | undefined;
  /** The elements of the packets that are drawn, by their numbers. */
  readonly #drawn = new Map<number, SVGGElement>();

  constructor(events: LadderEvents) {
    this.#events = events;
    this.element.append(this.#heads, this.#canvas);
    this.element.addEventListener('scroll', () => {
      this.draw();
    });
    window.addEventListener('resize', () => {
      this.#frame();
    });
  }

  /** Draws these pairs and packets. */
  show(pairs: readonly { pair: Pair; index: number }[], packets: readonly LadderPacket[]): void {
    this.#pairs = pairs;
    this.#layout = layOut(packets);
    this.#frame();
  }

  choose(packet: LadderPacket | undefined): void {
    this.#chosen = packet?.number;
    this.draw();
  }

  /** Scrolls to a packet that is drawn. */
  reveal({ number }: LadderPacket): void {
    const place = this.#layout.placed.find(({ packet }) => packet.number === number);
    if (place === undefined) return;
    this.element.scrollTop = place.from - this.element.clientHeight / 3;
    this.draw();
  }

  get #laneWidth(): number {
    const room = this.element.clientWidth - AXIS;
    return Math.max(LEAST_LANE, Math.min(900, Math.floor(room / Math.max(1, this.#pairs.length))));
  }

  #rails(lane: number): Rails {
    const width = this.#laneWidth;
    const margin = width < 420 ? NARROW_MARGIN : MARGIN;
    return { left: AXIS + lane * width + margin, right: AXIS + (lane + 1) * width - margin };
  }

  #frame(): void {
    const width = AXIS + this.#laneWidth * this.#pairs.length;
    this.#canvas.style.height = `${this.#layout.height}px`;
    this.#canvas.style.width = `${width}px`;
    this.#heads.style.width = `${width}px`;
    const heads = svg('svg', { width, height: HEAD_HEIGHT, 'aria-hidden': 'true' });
    this.#pairs.forEach(({ pair }, lane) => {
      const { left, right } = this.#rails(lane);
      const narrow = right - left < 420;
      heads.append(...headTexts(pair, 0, left, narrow), ...headTexts(pair, 1, right, narrow));
    });
    heads.append(svg('text', { class: 'axis', x: AXIS - 12, y: 34, 'text-anchor': 'end' }, 'time'));
    this.#heads.replaceChildren(heads);
    this.draw();
  }

  /** Draws what the window shows. */
  draw(): void {
    const top = Math.max(0, this.element.scrollTop - SPARE);
    const bottom = Math.min(this.#layout.height, top + this.element.clientHeight + 2 * SPARE);
    const height = Math.max(0, bottom - top);
    const drawing = svg('svg', { width: this.#canvas.clientWidth, height, role: 'group', 'aria-label': 'Packets' });
    drawing.style.top = `${top}px`;
    this.#pairs.forEach((_, lane) => {
      const { left, right } = this.#rails(lane);
      for (const x of [left, right]) drawing.append(svg('line', { class: 'rail', x1: x, x2: x, y1: 0, y2: height }));
    });
    const lanes = new Map(this.#pairs.map(({ index }, lane) => [index, lane]));
    const [focused] = [...this.#drawn].find(([, group]) => group === document.activeElement) ?? [];
    this.#drawn.clear();
    const labels = svg('g', { 'aria-hidden': 'true' });
    for (const place of visible(this.#layout, top, bottom)) {
      const lane = lanes.get(place.packet.pair);
      if (lane === undefined) continue;
      drawing.append(...this.#axis(place, top), this.#packet(place, this.#rails(lane), top, labels));
    }
    drawing.append(labels);
    this.#canvas.replaceChildren(drawing);
    // Its element is another one now: whoever goes through the packets by the keyboard stays where they are.
    if (focused !== undefined) this.#drawn.get(focused)?.focus({ preventScroll: true });
  }

  #axis({ packet, from, pause }: PlacedPacket, top: number): SVGElement[] {
    const y = from - top;
    const axis = { class: 'axis', x: AXIS - 12, 'text-anchor': 'end' };
    const time = svg('text', { ...axis, y: y + 4 }, timeText(packet.sent ?? packet.received ?? 0));
    if (pause === undefined) return [time];
    const width = AXIS + this.#laneWidth * this.#pairs.length;
    const text = svg('text', { ...axis, y: y - 18 }, `+${timeText(pause)}`);
    return [time, svg('line', { class: 'pause', x1: AXIS, x2: width, y1: y - 22, y2: y - 22 }), text];
  }

  #packet(place: PlacedPacket, rails: Rails, top: number, labels: SVGGElement): SVGGElement {
    const { packet } = place;
    const { group, label } = arrow(place, rails, top);
    this.#drawn.set(packet.number, group);
    labels.append(label);
    if (packet.number === this.#chosen) group.classList.add('chosen');
    group.addEventListener('pointerenter', () => {
      this.#events.point(packet);
    });
    group.addEventListener('focus', () => {
      this.#events.point(packet);
    });
    group.addEventListener('click', () => {
      this.#events.choose(packet);
    });
    group.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      // The space bar would scroll, too.
      event.preventDefault();
      this.#events.choose(packet);
    });
    return group;
  }
}

function headTexts({ ends, transport, tunnel }: Pair, end: 0 | 1, x: number, narrow: boolean): SVGTextElement[] {
  const anchor = end === 0 ? 'start' : 'end';
  const { address, qpn, requests } = ends[end];
  const part = requests === 0 ? 'responder' : ends[1 - end]?.requests === 0 ? 'requester' : 'requester, responder';
  const place = { x: x + (end === 0 ? -10 : 10), 'text-anchor': anchor };
  const kind = end === 0 ? `${transport} ` : '';
  const through = end === 0 && tunnel !== '' ? ` in ${tunnel}` : '';
  const role = narrow || transport === 'UD' ? '' : `, ${part}`;
  const what = `${kind}QP ${qpn === undefined ? '?' : hex(qpn)}${through}${role}`;
  return [
    svg('text', { ...place, class: 'who', y: 18 }, address),
    svg('text', { ...place, class: 'axis', y: 34 }, what),
  ];
}
