// The page's script: it reads the packets from the page and draws them.
import type { PageData } from '../src/show/page-row.js';
import { Details } from './details.js';
import { html } from './dom.js';
import { fold, foldOf } from './fold.js';
import { Ladder } from './ladder.js';
import { type LadderPacket, packetsOf, timeText } from './packet.js';
import { endText, PairList } from './pair-list.js';

/** Pairs that are drawn side by side at first. */
const DRAWN_AT_FIRST = 3;
const NARROW = 900;

const LEGEND: readonly (readonly [className: string, text: string])[] = [
  ['send', 'SEND'],
  ['write', 'WRITE'],
  ['read', 'READ and response'],
  ['atomic', 'atomic'],
  ['acknowledgement', 'ACK'],
  ['nak', 'NAK'],
  ['retransmission', 'retransmission'],
  ['lost dashed', 'lost'],
];

const data = JSON.parse(document.getElementById('data')?.textContent ?? '{}') as PageData;
const packets = packetsOf(data);
const details = new Details();
let chosen: LadderPacket | undefined;
/** Bursts that the reader has clicked. */
const unfolded = new Set<number>();

const ladder = new Ladder({
  point: (packet) => {
    if (chosen === undefined) show(packet);
  },
  choose: (packet) => {
    if (packet.folded !== undefined) {
      unfolded.add(packet.number);
      update();
      return;
    }
    chosen = chosen?.number === packet.number ? undefined : packet;
    ladder.choose(chosen);
    history.replaceState(null, '', chosen === undefined ? '#' : `#${chosen.number}`);
    show(packet);
  },
});

const drawn = window.innerWidth < NARROW ? 1 : DRAWN_AT_FIRST;
/** The busiest pairs, as many as there is room for. */
const busiest = data.pairs
  .map(({ packets: count }, i) => ({ count, i }))
  .sort((a, b) => b.count - a.count)
  .slice(0, drawn)
  .map(({ i }) => i);
const list = new PairList(data.pairs, (i) => busiest.includes(i), update);
const marked = html('input', { type: 'checkbox' });
marked.addEventListener('change', update);
const folds = html('input', { type: 'checkbox', checked: '' });
folds.addEventListener('change', () => {
  unfolded.clear();
  update();
});

function show(packet: LadderPacket): void {
  const ends = data.pairs[packet.pair]?.ends;
  if (ends !== undefined) details.show(packet, [endText(ends[0]), endText(ends[1])]);
}

function update(): void {
  const pairs = data.pairs.map((pair, index) => ({ pair, index })).filter(({ index }) => list.ticked(index));
  const wanted = packets.filter(({ pair, marks }) => list.ticked(pair) && (!marked.checked || marks.length > 0));
  ladder.show(pairs, folds.checked ? fold(wanted, unfolded) : wanted);
}

function toolbar(): HTMLElement {
  const search = html('input', { type: 'search', placeholder: 'queue pair or address', 'aria-label': 'Filter pairs' });
  search.addEventListener('input', () => {
    list.filter(search.value.trim());
  });
  const button = (text: string, all: boolean) => {
    const element = html('button', { type: 'button' }, text);
    element.addEventListener('click', () => {
      list.tick(all);
    });
    return element;
  };
  const only = html('label', {}, marked, 'only losses, retransmissions and NAKs');
  const several = data.pairs.length > 1 ? [search, button('All', true), button('None', false)] : [];
  const legend = html('div', { class: 'legend' }, ...LEGEND.map(([name, text]) => html('span', { class: name }, text)));
  const bursts = html('label', {}, folds, 'a burst as one arrow');
  return html('div', { class: 'bar' }, ...several, only, bursts, legend);
}

function summary(): string {
  const { rows, pairs, others, left, start, duration } = data;
  return [
    `${rows.length + left} packets of ${pairs.length} ${pairs.length === 1 ? 'pair' : 'pairs'} in ${timeText(duration)}`,
    ...(start === '' ? [] : [start]),
    ...(others > 0 ? [`${others} packets of other protocols are left out`] : []),
    ...(left > 0 ? [`the last ${left} are not in this page: use "verbs show --qp"`] : []),
  ].join(' · ');
}

document.body.append(
  html('header', {}, html('h1', {}, data.file), html('p', {}, summary())),
  toolbar(),
  list.element,
  html('div', { class: 'body' }, ladder.element, details.element),
);
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  chosen = undefined;
  ladder.choose(undefined);
  details.clear();
});
update();

// A link may name a packet: page.html#31.
const linked = packets.find(({ number }) => number === Number(location.hash.slice(1)));
if (linked !== undefined) {
  list.draw(linked.pair, drawn > 1);
  const burst = foldOf(fold(packets.filter(({ pair }) => pair === linked.pair)), linked);
  if (burst !== undefined) unfolded.add(burst);
  update();
  chosen = linked;
  ladder.choose(linked);
  ladder.reveal(linked);
  show(linked);
}
