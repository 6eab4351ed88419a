import { explain, type Explanation } from '@verbs/lib/packets/explain';

type Layer = Explanation['layers'][number];
import { html } from './dom.js';
import { hex, type LadderPacket, timeText } from './packet.js';

/** The panel with the headers of a packet: of the one under the pointer, or of the chosen one. */
export class Details {
  readonly element = html('aside', { 'aria-live': 'polite', 'aria-label': 'Packet' });

  constructor() {
    this.clear();
  }

  clear(): void {
    this.element.classList.remove('open');
    this.element.replaceChildren(
      html('h2', {}, 'A packet'),
      html('p', {}, 'Point at one, or go through them with the tab key, to see its headers. A click keeps it here.'),
    );
  }

  show(packet: LadderPacket, ends: [string, string]): void {
    const { number, name, from, sent, received, psn, length, notes, marks, role, folded } = packet;
    const close = html('button', { class: 'close', type: 'button' }, 'Close');
    close.addEventListener('click', () => {
      this.clear();
    });
    const times = [
      ...(sent === undefined ? [] : [`sent at ${timeText(sent)}`]),
      ...(received === undefined ? [] : [`received at ${timeText(received)}`]),
      ...(sent === undefined || received === undefined ? [] : [`${timeText(received - sent)} on the way`]),
    ];
    this.element.classList.add('open');
    this.element.replaceChildren(
      close,
      html('h2', { class: marks[0] ?? role }, `${number}: ${name}`),
      html('p', {}, `${ends[from]} to ${ends[1 - from] ?? ''}`),
      html('p', {}, times.join(', ')),
      html('p', {}, `PSN ${hex(psn)}${length > 0 ? `, ${length} bytes` : ''}`),
      ...(folded ? [html('p', {}, `The first of ${folded.length} alike. A click shows each of them.`)] : []),
      ...notes.map((note) => html('p', { class: marks[0] ?? role }, note)),
      ...layersOf(packet).flatMap(layerElements),
    );
  }
}

function layersOf({ bytes, link, at, length }: LadderPacket): Layer[] {
  const data = Uint8Array.from(atob(bytes), (character) => character.charCodeAt(0));
  if (data.length === 0) return [];
  // Only headers and a piece of the data are here: the command has found where the RDMA packet begins.
  const isTransport = (place: { at: number }) => place.at === at;
  return explain(data, { link, length, isTransport, isSealed: isTransport }).layers;
}

function layerElements({ name, bytes, fields }: Layer): HTMLElement[] {
  const list = html('dl');
  for (const { name: field, text, meaning } of fields) {
    if (field === 'reserved') continue;
    const value = html('dd', {}, text);
    if (meaning !== undefined) value.append(' ', html('small', {}, meaning));
    list.append(html('dt', {}, field), value);
  }
  return [html('h3', {}, `${name}, ${bytes.length} bytes`), list];
}
