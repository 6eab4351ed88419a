const [WIDTH, HEIGHT] = [640, 160];
const COLOURS = ['#1f77b4', '#ff7f0e', '#2ca02c', '#d62728', '#9467bd', '#8c564b', '#e377c2', '#7f7f7f'];

/**
 * A page by itself: a graph for each kind of figure, a line for each process.
 * @param {Record<string, Record<string, number[]>>} processes @param {string} title
 */
export function plot(processes, title) {
  const names = Object.keys(processes);
  const kinds = [...new Set(names.flatMap((name) => Object.keys(processes[name] ?? {})))];
  const legend = names.map((name, at) => `<span style="color:${colour(at)}">■ ${name}</span>`).join(' ');
  const graphs = kinds.map((kind) =>
    graph(
      kind,
      names.map((name) => processes[name]?.[kind] ?? []),
    ),
  );
  return `<!doctype html><meta charset="utf-8"><title>${title}</title>
<style>body{font:14px sans-serif;margin:2em}svg{border:1px solid #ccc;background:#fff}</style>
<h1>${title}</h1><p>${legend}</p>${graphs.join('\n')}\n`;
}

/** @param {number} at */
const colour = (at) => COLOURS[at % COLOURS.length] ?? '#000';

/** @param {string} kind @param {number[][]} lines */
function graph(kind, lines) {
  const top = Math.max(1, ...lines.flat());
  const paths = lines.map((values, line) => {
    const points = values.map((value, at) => {
      const x = values.length < 2 ? 0 : (at / (values.length - 1)) * WIDTH;
      return `${x.toFixed(1)},${(HEIGHT - (value / top) * (HEIGHT - 8)).toFixed(1)}`;
    });
    return `<polyline fill="none" stroke="${colour(line)}" points="${points.join(' ')}"/>`;
  });
  const size = `viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}"`;
  return `<h2>${kind}, up to ${top.toLocaleString('en')}</h2><svg ${size}>${paths.join('')}</svg>`;
}
