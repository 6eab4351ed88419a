/**
 * A line of a program's output.
 * @typedef {object} Line
 * @property {number} seconds after the start
 * @property {string} text
 */

const ROWS = 39;
const COLUMNS = 120;
const LINE = 17;
const LETTER = 7.25;
const PADDING = 14;

/**
 * A drawing of a terminal in which each line appears at its time, and which scrolls as a terminal does. Who wants no
 * motion sees the end.
 * @param {string} command
 * @param {readonly Line[]} lines
 * @returns {string} SVG
 */
export function recording(command, lines) {
  const all = [{ seconds: 0, text: `$ ${command}` }, ...lines];
  const end = Math.max(0.1, ...all.map(({ seconds }) => seconds));
  const scrolls = all
    .map(({ seconds }, i) => ({ seconds, up: Math.max(0, i + 1 - ROWS) * LINE }))
    .filter(({ up }) => up > 0);
  // Of lines that appear together, the last one decides how far the terminal has scrolled.
  const frames = new Map(scrolls.map(({ seconds, up }) => [((seconds / end) * 100).toFixed(1), up]));
  const last = scrolls.at(-1)?.up ?? 0;
  const texts = all.map(
    ({ seconds, text }, i) =>
      `<text y="${(i + 1) * LINE - 4}" style="animation-delay: ${seconds.toFixed(2)}s">${escape(text)}</text>`,
  );
  const [width, height] = [COLUMNS * LETTER + 2 * PADDING, ROWS * LINE + 2 * PADDING];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}">
<style>
.terminal text { font: 12px ui-monospace, 'DejaVu Sans Mono', monospace; fill: #d6dbe1; white-space: pre; opacity: 0; animation: terminal-line 0s forwards; }
.terminal text:first-child { fill: #7fd18c; }
.terminal .scrolled { transform: translateY(-${last}px); animation: terminal-scroll ${end.toFixed(2)}s step-end; }
@keyframes terminal-line { to { opacity: 1; } }
@keyframes terminal-scroll { 0% { transform: translateY(0); } ${[...frames].map(([at, up]) => `${at}% { transform: translateY(-${up}px); }`).join(' ')} }
@media (prefers-reduced-motion: reduce) { .terminal text, .terminal .scrolled { animation: none; opacity: 1; } }
</style>
<rect width="${width}" height="${height}" rx="8" style="fill: #16191d; stroke: #3a4048"/>
<svg class="terminal" x="${PADDING}" y="${PADDING}" width="${width - 2 * PADDING}" height="${height - 2 * PADDING}"><g class="scrolled">
${texts.join('\n')}
</g></svg>
</svg>
`;
}

/** @param {string} text */
function escape(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
