import type { ComparisonResult } from '../run/rounds.js';
import type { Line, PlotData, Point } from './plot.js';

/** The plots of the results, in their order: one line for each contender, or one through all contenders. */
export function plotsOf(results: readonly ComparisonResult[]): PlotData[] {
  const plots = new Map<string, Omit<PlotData, 'lines'> & { points: Map<string, Point[]> }>();
  for (const { plot, unit, contenders } of results) {
    if (plot === undefined) continue;
    const { title, axis } = plot;
    const data = plots.get(title) ?? { title, axis, unit, points: new Map<string, Point[]>() };
    plots.set(title, data);
    for (const { name, median, x = plot.x, skipped } of contenders) {
      if (skipped !== undefined || x === undefined || !Number.isFinite(median)) continue;
      const line = plot.x === undefined ? title : name;
      const points = data.points.get(line) ?? [];
      data.points.set(line, points);
      points.push({ x, y: median });
    }
  }
  return [...plots.values()].map(({ points, ...rest }) => ({
    ...rest,
    lines: [...points].map(([name, line]): Line => ({ name, points: line })),
  }));
}
