import { describe, expect, it } from 'vitest';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandFor, missingPackages } from '../src/debian.mjs';

/** Runs `body` with a dpkg-query on PATH that prints `lines` and fails, as the real one does for unknown names. */
function withDpkgQuery(lines: string[], body: () => void) {
  const directory = mkdtempSync(join(tmpdir(), 'verbs-setup-'));
  const path = process.env['PATH'];
  try {
    const script = join(directory, 'dpkg-query');
    writeFileSync(script, `#!/bin/sh\ncat <<'END'\n${lines.join('\n')}\nEND\nexit 1\n`);
    chmodSync(script, 0o755);
    process.env['PATH'] = `${directory}:${path ?? ''}`;
    body();
  } finally {
    process.env['PATH'] = path;
    rmSync(directory, { recursive: true });
  }
}

describe('missingPackages', () => {
  it('wants what is unknown, and what was removed but left its configuration', () => {
    withDpkgQuery(['cmake installed', 'tshark config-files'], () => {
      expect(missingPackages(['cmake', 'tshark', 'perftest'])).toEqual(['tshark', 'perftest']);
    });
  });
});

describe('commandFor', () => {
  it('is one command that fetches the lists, too', () => {
    expect(commandFor(['cmake', 'tshark'])).toBe(
      "sudo sh -c 'apt-get update && apt-get install -y --no-install-recommends cmake tshark'",
    );
  });
});
