import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser, findBrowser } from '../src/browser.mjs';

const program = findBrowser();
const overflows = readFileSync(new URL('../browser/overflows.js', import.meta.url), 'utf8');
const title =
  program === undefined ? 'the check of the layout (skipped: there is no chromium)' : 'the check of the layout';

describe.skipIf(program === undefined)(title, { timeout: 60_000 }, () => {
  let folder = '';
  let browser: Browser;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'verbs-layout-'));
    browser = new Browser(program ?? '');
    await browser.open();
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  const found = async (width: number, body: string) => {
    const file = join(folder, 'page.html');
    const style = '<meta name="viewport" content="width=device-width"><style>body{margin:0;font:10px monospace}';
    writeFileSync(file, `<!doctype html>${style}pre{overflow-x:auto}</style><div class="col-content">${body}</div>`);
    await browser.view(width, 600, 'light');
    await browser.go(pathToFileURL(file).href);
    return browser.evaluate(overflows);
  };

  it('finds nothing on a page that fits', async () => {
    expect(await found(1280, `<pre>short</pre><table><tr><td>a</table>`)).toEqual([]);
    expect(await found(400, `<pre>${'x'.repeat(500)}</pre>`)).toEqual([]);
  });

  it('finds code that is cut on a laptop, and what makes a page too wide for a telephone', async () => {
    expect(await found(1280, `<pre>${'x'.repeat(500)}</pre>`)).toEqual([
      expect.stringMatching(/^pre .* has to be scrolled/),
    ]);
    const table = '<table><tr><td style="min-width:700px">wide</table>';
    expect(await found(400, table)).toEqual([
      expect.stringMatching(/^the page is 7\d\d pixels wide$/),
      expect.stringMatching(/^table "wide" reaches from 0 to 7\d\d/),
    ]);
    const scrolled = '<table style="display:block;overflow-x:auto"><tr><td style="min-width:700px">wide</table>';
    expect(await found(400, scrolled)).toEqual([expect.stringMatching(/^table "wide" has to be scrolled/)]);
    const figure = (width: number) =>
      `<figure style="overflow-x:auto;margin:0"><div style="width:${width}px">x</div></figure>`;
    expect(await found(400, figure(600))).toEqual([]);
    expect(await found(1280, figure(1400))).toEqual([expect.stringMatching(/^figure "x" has to be scrolled/)]);
    expect(await found(1280, `<p style="width:2000px">text</p>`)).toEqual(['the page is 2000 pixels wide']);
  });
});
