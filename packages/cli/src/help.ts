/** Below that the lines of a terminal are too short for text. */
const LEAST_WIDTH = 40;
/** Between an example's command and what it does. */
const GAP = /^( +)(\S.*?) {2,}(\S.*)$/;

/** Text of the help for a terminal, or a file, of so many columns. Commands keep their lines: a shell reads them. */
export function wrapHelp(text: string, columns: number): string {
  const width = Math.max(columns, LEAST_WIDTH);
  const blocks: string[][] = [];
  for (const line of text.split('\n')) {
    const last = blocks.at(-1);
    if (last !== undefined && kind(last[0]) === kind(line)) last.push(line);
    else blocks.push([line]);
  }
  const fits = (block: string[]) => block.every((line) => line.length <= width);
  return blocks.flatMap((block) => (fits(block) ? block : wrapped(block, width))).join('\n');
}

function kind(line = ''): 'empty' | 'prose' | 'indented' {
  if (line === '') return 'empty';
  return line.startsWith(' ') ? 'indented' : 'prose';
}

/** A paragraph, or examples: all of them get a second line for what they do. */
function wrapped(block: readonly string[], width: number): string[] {
  if (kind(block[0]) === 'prose') return fill(block.join(' '), width, '');
  return block.flatMap((line) => {
    const [, indent = '', command = '', meaning = ''] = GAP.exec(line) ?? [];
    return command === '' ? [line] : [`${indent}${command}`, ...fill(meaning, width, `${indent}    `)];
  });
}

/** Lines of at most `width` columns, each behind `indent`. */
export function fill(text: string, width: number, indent: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > width) {
      lines.push(`${indent}${line}`);
      line = word;
    } else line += line === '' ? word : ` ${word}`;
  }
  return [...lines, `${indent}${line}`];
}
