/** A box of a {@link PipelineGraph}. */
export interface PipelineNode {
  /** What it is: packets come to a table, a rule matches some of them, and they end at a destination or in a table. */
  kind: 'table' | 'rule' | 'destination';
  /** Its first line. */
  name: string;
  /** Of a rule: what it does with packets, in the order of the device. */
  actions: readonly string[];
}

/** An arrow of a {@link PipelineGraph}, between places in `nodes`. */
export interface PipelineEdge {
  /** Where packets come from. */
  from: number;
  /** Where they go. */
  to: number;
}

type Nodes = readonly PipelineNode[];
type Edges = readonly PipelineEdge[];

function after(edges: Edges, index: number): number[] {
  return edges.filter(({ from }) => from === index).map(({ to }) => to);
}

/** Where packets begin: tables that no rule leads to. In a circle of tables, the first one. */
function roots(nodes: Nodes, edges: Edges): number[] {
  const tables = nodes.flatMap(({ kind }, i) => (kind === 'table' ? [i] : []));
  const found = tables.filter((i) => edges.every(({ to }) => to !== i));
  return found.length > 0 ? found : tables.slice(0, 1);
}

/** A tree for each root. A table that is there already is only named. */
export function textOf(nodes: Nodes, edges: Edges): string {
  const lines: string[] = [];
  const seen = new Set<number>();
  const walk = (index: number, before: string, below: string) => {
    const { name = '', actions = [] } = nodes[index] ?? {};
    const again = seen.has(index) && after(edges, index).length > 0;
    lines.push(
      `${before}${[name, ...(actions.length > 0 ? [actions.join(', ')] : [])].join(': ')}${again ? ' …' : ''}`,
    );
    if (again) return;
    seen.add(index);
    after(edges, index).forEach((next, i, all) => {
      const last = i === all.length - 1;
      walk(next, `${below}${last ? '└─ ' : '├─ '}`, `${below}${last ? '   ' : '│  '}`);
    });
  };
  for (const root of roots(nodes, edges)) walk(root, '', '');
  return lines.join('\n');
}

const SHAPES = { table: 'box3d', rule: 'box', destination: 'ellipse' };

export function dotOf(nodes: Nodes, edges: Edges): string {
  const quote = (text: string) => `"${text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`;
  return [
    'digraph pipeline {',
    '  rankdir=LR;',
    ...nodes.map(({ kind, name, actions }, i) => {
      const label = quote([name, ...actions].join('\n'));
      return `  n${i} [shape=${SHAPES[kind]}, label=${label}];`;
    }),
    ...edges.map(({ from, to }) => `  n${from} -> n${to};`),
    '}',
  ].join('\n');
}

const CHARACTER = 7.3;
const LINE = 18;
const PADDING = 10;
const GAP_X = 48;
const GAP_Y = 18;

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  lines: string[];
  kind: PipelineNode['kind'];
}

/** Columns by the distance from where packets begin, in each the boxes in their order. */
export function svgOf(nodes: Nodes, edges: Edges): string {
  const columns: number[][] = [];
  const placed = new Set<number>();
  for (let column = roots(nodes, edges); column.length > 0;) {
    columns.push(column);
    for (const index of column) placed.add(index);
    const next = column.flatMap((index) => after(edges, index)).filter((index) => !placed.has(index));
    column = [...new Set(next)];
  }
  const boxes = new Map<number, Box>();
  let x = PADDING;
  let bottom = 0;
  for (const column of columns) {
    let y = PADDING;
    let widest = 0;
    for (const index of column) {
      const { kind = 'rule', name = '', actions = [] } = nodes[index] ?? {};
      const lines = [...name.split(/, (?=priority)| (?=\w+\.\w+=)/), ...actions];
      const width = Math.max(...lines.map(({ length }) => length)) * CHARACTER + 2 * PADDING;
      const height = lines.length * LINE + PADDING;
      boxes.set(index, { x, y, width, height, lines, kind });
      y += height + GAP_Y;
      widest = Math.max(widest, width);
    }
    x += widest + GAP_X;
    bottom = Math.max(bottom, y);
  }
  const [width, height] = [Math.ceil(x - GAP_X + PADDING), Math.ceil(bottom - GAP_Y + PADDING)];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<style>${STYLE}</style>`,
    '<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">' +
      '<path d="M0 0 8 4 0 8z"/></marker></defs>',
    ...edges.map(({ from, to }) => arrow(boxes.get(from), boxes.get(to))),
    ...Array.from(boxes.values(), boxText),
    '</svg>',
  ].join('\n');
}

const STYLE =
  'text{font:12px ui-monospace,monospace;fill:#1a1a1a}rect{fill:#fff;stroke:#555}path{stroke:#555;fill:none}' +
  'marker path{fill:#555;stroke:none}.table rect{fill:#dce8f7}.destination rect{fill:#dff2e1}' +
  '@media(prefers-color-scheme:dark){text{fill:#eee}rect{fill:#222;stroke:#999}path{stroke:#999}marker path{fill:#999}' +
  '.table rect{fill:#1f3350}.destination rect{fill:#1d3d24}}';

function boxText({ x, y, width, height, lines, kind }: Box): string {
  const round = kind === 'destination' ? 12 : 3;
  const texts = lines.map(
    (line, i) => `<text x="${round1(x + PADDING)}" y="${round1(y + LINE * (i + 1))}">${escaped(line)}</text>`,
  );
  const rect = `<rect x="${round1(x)}" y="${round1(y)}" width="${round1(width)}" height="${height}" rx="${round}"/>`;
  return `<g class="${kind}">${rect}${texts.join('')}</g>`;
}

/** From the right side of one box to the left side of the other; back to an earlier column, below both. */
function arrow(from: Box | undefined, to: Box | undefined): string {
  if (from === undefined || to === undefined) return '';
  const [x1, y1] = [from.x + from.width, from.y + from.height / 2];
  const [x2, y2] = [to.x, to.y + to.height / 2];
  const bend = Math.max(GAP_X / 2, (x2 - x1) / 2);
  const path = `M${round1(x1)} ${round1(y1)}C${round1(x1 + bend)} ${round1(y1)} ${round1(x2 - bend)} ${round1(y2)} ${round1(x2)} ${round1(y2)}`;
  return `<path d="${path}" marker-end="url(#end)"/>`;
}

function round1(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
