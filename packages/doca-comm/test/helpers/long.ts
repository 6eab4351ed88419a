/** The long runs are a command of their own: `npm run trial long`. */
export const long = process.env['VERBS_DOCA_LONG'] !== undefined;
export const MINUTE = 60_000;

/** Long work shows how far it is: a line every some seconds. */
export function progress(what: string, total: number): () => void {
  let done = 0;
  let told = performance.now();
  return () => {
    done++;
    if (!long || (performance.now() - told < 5000 && done < total)) return;
    told = performance.now();
    show(`${what}: ${done} of ${total}`);
  };
}

/** To the terminal at once: the runner shows its own output only when a test has ended. */
export function show(line: string): void {
  process.stderr.write(`  ${line}\n`);
}
