const kCopies = Symbol.for('@verbs/native-files.copies');

/**
 * Warns of a second copy of a package in this thread: objects of one are rejected by the other. The `import` and the
 * `require` form of one installation are one copy.
 */
export function warnOfCopies(name: string, folder: string): void {
  const shared = globalThis as unknown as Record<symbol, Map<string, string> | undefined>;
  const copies = (shared[kCopies] ??= new Map<string, string>());
  const first = copies.get(name);
  copies.set(name, first ?? folder);
  if (first === undefined || first === folder) return;
  process.emitWarning(
    `two copies of ${name} are loaded, ${first} and ${folder}: objects of one are rejected by the other`,
    {
      code: 'VERBS_TWO_COPIES',
      detail: `"npm ls ${name}" shows which packages ask for them; "npm dedupe" makes them one if the versions allow it.`,
    },
  );
}
