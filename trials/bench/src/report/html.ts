import type { ComparisonResult, ContenderResult } from '../run/rounds.js';
import { type Circumstances, circumstances, escaped, figure } from './format.js';
import { svgPlot } from './plot.js';
import { plotsOf } from './plots.js';
import { STYLE } from './style.js';
import { verdict } from './text.js';

/** The report as one file that needs no other. */
export function htmlReport(about: Circumstances, results: readonly ComparisonResult[]): string {
  const plots = plotsOf(results).map((plot) => `<h3>${escaped(plot.title)}</h3>\n${svgPlot(plot)}`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Benchmarks of the software NIC</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Benchmarks of the software NIC</h1>
<p>${escaped(circumstances(about))}</p>
<p class="note">All contenders ran in turn, in each round. Figures are medians of the rounds, ratios medians of the ratios within a
round. Each measurement is tagged near or far, by a probe of how long a flag in shared memory takes from one processor to the
other and back: figures of the two do not compare.</p>
<h2>Targets</h2>
${targetTable(results)}
<h2>Plots</h2>
${plots.join('\n')}
<h2>Comparisons</h2>
${results.map(comparisonSection).join('\n')}
</body>
</html>
`;
}

function targetTable(results: readonly ComparisonResult[]): string {
  const rows = results.flatMap(({ targets, better }) =>
    targets.map((target) => {
      const [value, limit, outcome] = verdict(target, better);
      const cells = [target.title, value, limit].map((cell) => `<td>${escaped(cell)}</td>`).join('');
      return `<tr>${cells}<td class="${outcome === 'reached' || outcome === 'missed' ? outcome : 'skipped'}">${escaped(outcome)}</td></tr>`;
    }),
  );
  return table(['target', 'figure', 'limit', ''], rows);
}

function comparisonSection({ name, unit, better, contenders }: ComparisonResult): string {
  const largest = Math.max(...contenders.map(({ median }) => (Number.isFinite(median) ? median : 0)));
  const rows = contenders.map((contender) => contenderRow(contender, largest));
  const titles = [unit, 'median', 'near', 'far', 'best', '99 %', '99.9 %', 'ratio'];
  return `<h3>${escaped(name)}</h3>
<p class="note">${better === 'small' ? 'Less' : 'More'} is better; the ratio is to the first.</p>
${table(titles, rows)}`;
}

function contenderRow(contender: ContenderResult, largest: number): string {
  const { name, skipped, median, near = NaN, far = NaN, best, percentiles, ratio } = contender;
  if (skipped !== undefined) {
    return `<tr><td>${escaped(name)}</td><td class="skipped" colspan="7">${escaped(skipped)}</td></tr>`;
  }
  const bar = `<span class="bar" style="width:${((median / largest) * 100).toFixed(1)}%"></span>`;
  const figures = [median, near, far, best, percentiles?.p99 ?? NaN, percentiles?.p999 ?? NaN, ratio];
  const cells = figures.map((value) => `<td>${figure(value)}</td>`).join('');
  return `<tr><td>${escaped(name)}${bar}</td>${cells}</tr>`;
}

function table(titles: readonly string[], rows: readonly string[]): string {
  const head = titles.map((title) => `<th>${escaped(title)}</th>`).join('');
  return `<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>\n${rows.join('\n')}\n</tbody></table></div>`;
}
