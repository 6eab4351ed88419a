import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { WcStatus } from '../../src/index.js';
import { statusHint } from '../../src/reasons/status-hint.js';

it('every status of docs/concepts/errors.md has a sentence, and it is about the same', () => {
  const text = readFileSync(new URL('../../../../docs/concepts/errors.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| ([A-Z_]+ERR)\s*\| (.*?)\s*\|/gm)].map(([, name = '', meaning = '']) => [
    name,
    meaning,
  ]);
  expect(rows.length).toBe(7);
  for (const [name = '', meaning = ''] of rows) {
    const hint = statusHint(WcStatus[name as keyof typeof WcStatus]);
    expect(hint?.toLowerCase(), name).toContain(meaning.toLowerCase());
  }
});
