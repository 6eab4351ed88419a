/** A figure with three significant digits; large ones with thousands separators. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '-';
  if (value >= 1000) return Math.round(value).toLocaleString('en-US');
  if (value >= 100) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}

/** Text in HTML, and in its attributes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** '1 round', '2 rounds' */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** What was measured where. */
export interface Circumstances {
  command: string;
  date: string;
  rounds: number;
  processors: { model: string; count: number };
  node: string;
  kernel: string;
}

/** '2026-01-02 03:04, 2 processors MODEL, Linux 6.1, Node.js v20, 3 rounds: COMMAND' */
export function circumstances({ command, date, rounds, processors, node, kernel }: Circumstances): string {
  const machine = `${plural(processors.count, 'processor')} ${processors.model}, Linux ${kernel}`;
  return `${date}, ${machine}, Node.js ${node}, ${plural(rounds, 'round')}: ${command}`;
}
