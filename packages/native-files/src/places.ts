import { join } from 'node:path';

/** Where an installed package is looked for: as a module sees it, as the program does, and from where it was started. */
export function* searchPlaces(from: string | undefined): Generator<string, void, undefined> {
  for (const place of [from, process.argv[1]]) {
    if (place !== undefined && /^(file:|\/)/.test(place)) yield place;
  }
  const started = workingDirectory();
  if (started !== undefined) yield join(started, 'package.json');
}

/** Undefined if it was deleted. */
export function workingDirectory(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}
