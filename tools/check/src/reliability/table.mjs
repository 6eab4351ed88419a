/**
 * Columns for people: text to the left, numbers to the right.
 * @param {string[]} head @param {(string | number)[][]} lines
 */
export function table(head, lines) {
  const text = lines.map((line) => line.map((cell) => (typeof cell === 'number' ? count(cell) : cell)));
  const widths = head.map((title, column) => Math.max(title.length, ...text.map((line) => line[column]?.length ?? 0)));
  const numeric = head.map((_, column) => lines.length > 0 && lines.every((line) => typeof line[column] === 'number'));
  const format = (/** @type {string[]} */ line) =>
    line
      .map((cell, column) =>
        numeric[column] === true ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [head, ...text].map(format).join('\n');
}

/** @param {number} value */
function count(value) {
  return Number.isInteger(value) ? value.toLocaleString('en') : value.toFixed(1);
}
