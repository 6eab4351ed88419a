import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pageText, urlOf } from '../src/page-text.mjs';

describe('pageText', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'verbs-site-'));
    writeFileSync(join(folder, 'echo.mjs'), 'echo();\n');
    writeFileSync(join(folder, 'Dockerfile'), 'FROM node\n');
    writeFileSync(join(folder, 'a.svg'), '<svg viewBox="0 0 1 1">\n\n<g/></svg>\n');
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });
  const page = (text: string) => pageText(text, join(folder, 'page.md'));

  it('takes the heading as the title', () => {
    expect(page('# The `verbs` command\n\nText.\n')).toEqual({
      title: 'The verbs command',
      text: '# The `verbs` command\n\nText.\n',
    });
    expect(() => page('Text.\n')).toThrow('has no heading');
  });

  it('includes programs', () => {
    expect(page('# A\n\n<!-- include echo.mjs -->\n').text).toBe('# A\n\n```js\necho();\n```\n');
    expect(page('# A\n\n<!-- include Dockerfile -->\n').text).toBe('# A\n\n```docker\nFROM node\n```\n');
    expect(() => page('# A\n\n<!-- include nothing.mjs -->\n')).toThrow('which a document includes');
  });

  it('puts diagrams into the page', () => {
    expect(page('# A\n\n![Two "ends"](a.svg)\n').text).toBe(
      '# A\n\n<figure><svg role="img" aria-label="Two &quot;ends&quot;" viewBox="0 0 1 1">\n<g/></svg></figure>\n',
    );
  });
});

describe('urlOf', () => {
  it.each([
    ['docs/guides/porting.md', 'guides/porting'],
    ['docs/decisions/README.md', 'decisions'],
    ['packages/cli/README.md', 'packages/cli'],
    ['packages/core/docs/functions.md', 'core-functions'],
    ['SECURITY.md', 'security'],
  ])('%s becomes %s', (path, url) => {
    expect(urlOf(path)).toBe(url);
  });
});
