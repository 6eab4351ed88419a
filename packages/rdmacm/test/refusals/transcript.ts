/** The output of native/test/refusals: cases, and the calls of each with their results. */
export type Transcript = Map<string, string[]>;

export function parse(text: string): Transcript {
  const cases: Transcript = new Map();
  let lines: string[] = [];
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    if (line.startsWith('  ')) lines.push(line.slice(2));
    else if (line === 'crashes' || line === 'blocks') lines.push(`${lines.pop() ?? ''}${line}`);
    else cases.set(line, (lines = []));
  }
  return cases;
}

/** A call on which the real library crashes is refused by ours, or does nothing. */
const afterCrash = ['EINVAL', 'returns', '0'];

/** Whether our line is the right one where the real library has the other. */
function agrees(real: string, ours: string | undefined): boolean {
  const crash = /^(.* -> )crashes$/.exec(real)?.[1];
  return crash === undefined ? real === ours : afterCrash.some((end) => ours === crash + end);
}

/** Where ours differs, as lines of text. `reasons`: the cases that may, which must. */
export function differences(real: Transcript, ours: Transcript, reasons: Record<string, string>): string[] {
  const found: string[] = [];
  for (const [name, lines] of real) {
    const got = ours.get(name) ?? [];
    const wrong = lines.flatMap((line, i) =>
      agrees(line, got[i]) ? [] : [`${line} (real)  ${got[i] ?? 'nothing'} (ours)`],
    );
    wrong.push(...got.slice(lines.length).map((line) => `${line} (ours only)`));
    if (name in reasons && wrong.length === 0)
      found.push(`${name}: it has no difference any more: ${reasons[name] ?? ''}`);
    if (!(name in reasons)) found.push(...wrong.map((line) => `${name}: ${line}`));
  }
  for (const name of [...ours.keys(), ...Object.keys(reasons)]) {
    if (!real.has(name)) found.push(`${name}: the recording does not have this case`);
  }
  return found;
}
