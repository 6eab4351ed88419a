import { type Axis, logarithmic } from './axis.js';
import { escaped, figure } from './format.js';

export interface Point {
  x: number;
  y: number;
}

export interface Line {
  name: string;
  points: readonly Point[];
}

export interface PlotData {
  title: string;
  axis: string;
  unit: string;
  lines: readonly Line[];
}

const WIDTH = 720;
const HEIGHT = 420;
const LEFT = 64;
const BOTTOM = 44;
const TOP = 12;
const RIGHT = 16;
const DASHES = ['', '7 4', '2 3'];

/** Its colour: each line another hue, whose lightness is that of the page's scheme. */
function hue(index: number): number {
  // The golden angle: neighbours differ, and none repeats.
  return Math.round((index * 137.5 + 210) % 360);
}

/** A plot as SVG, with both axes logarithmic. */
export function svgPlot({ title, axis, unit, lines }: PlotData): string {
  const points = lines.flatMap((line) => line.points);
  if (points.length === 0) return '';
  const x = logarithmic([...new Set(points.map((point) => point.x))], LEFT, WIDTH - RIGHT);
  const y = logarithmic(
    points.map((point) => point.y),
    HEIGHT - BOTTOM,
    TOP,
  );
  const drawn = lines.map((line, index) => svgLine(line, index, x, y, unit));
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">
${grid(x, y)}
<text class="axis" x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 4}" text-anchor="middle">${escaped(axis)}</text>
<text class="axis" transform="translate(12 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">${escaped(unit)}</text>
${drawn.join('\n')}
</svg>
${legend(lines)}`;
}

function grid(x: Axis, y: Axis): string {
  const vertical = x.ticks.map((tick) => {
    const at = x.at(tick).toFixed(1);
    return `<path class="grid" d="M${at} ${TOP}V${HEIGHT - BOTTOM}"/><text class="tick" x="${at}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${short(tick)}</text>`;
  });
  const horizontal = y.ticks.map((tick) => {
    const at = y.at(tick);
    return `<path class="grid" d="M${LEFT} ${at.toFixed(1)}H${WIDTH - RIGHT}"/><text class="tick" x="${LEFT - 6}" y="${(at + 4).toFixed(1)}" text-anchor="end">${short(tick)}</text>`;
  });
  return [...vertical, ...horizontal].join('\n');
}

function svgLine({ name, points }: Line, index: number, x: Axis, y: Axis, unit: string): string {
  const sorted = points.toSorted((a, b) => a.x - b.x);
  const place = (point: Point) => `${x.at(point.x).toFixed(1)} ${y.at(point.y).toFixed(1)}`;
  const path = sorted.map(place).join('L');
  const dots = sorted.map((point) => {
    const [cx, cy] = place(point).split(' ');
    return `<circle cx="${cx}" cy="${cy}" r="3.5"><title>${escaped(name)}, ${short(point.x)}: ${figure(point.y)} ${escaped(unit)}</title></circle>`;
  });
  const dash = DASHES[index % DASHES.length] ?? '';
  return `<g class="line" style="--hue:${hue(index)}"><path d="M${path}" stroke-dasharray="${dash}"/>${dots.join('')}</g>`;
}

function legend(lines: readonly Line[]): string {
  const entries = lines.map(({ name }, index) => {
    const dash = DASHES[index % DASHES.length] ?? '';
    return `<li class="line" style="--hue:${hue(index)}"><svg viewBox="0 0 28 8" class="key" aria-hidden="true"><path d="M0 4H28" stroke-dasharray="${dash}"/></svg>${escaped(name)}</li>`;
  });
  return `<ul class="legend">${entries.join('')}</ul>`;
}

/** 65536 as 64 Ki, 1000000 as 1 M. */
function short(value: number): string {
  if (value >= 1024 && Number.isInteger(Math.log2(value))) {
    return value >= 1 << 20 ? `${value / (1 << 20)} Mi` : `${value / 1024} Ki`;
  }
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))} M`;
  if (value >= 1e3) return `${Number((value / 1e3).toPrecision(3))} k`;
  return String(Number(value.toPrecision(3)));
}
