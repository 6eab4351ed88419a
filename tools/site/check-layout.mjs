// The end of `npm run site`: what is cut or wider than the screen, at the width of a laptop and of a telephone, on each document and on
// a page of each kind of the reference; with --all on every page, which takes minutes. With --pictures FOLDER it also takes a picture of
// each page of Start here, Guides and Concepts, light and dark.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { root } from '../setup/src/paths.mjs';
import { Browser, findBrowser } from './src/browser.mjs';
import { pages } from './src/pages.mjs';
import { urlOf } from './src/page-text.mjs';

const WIDTHS = [1280, 400];
const HEIGHT = 900;
const LOOKED_AT = new Set(['Start here', 'Guides', 'Concepts']);

const { values } = parseArgs({
  options: { pictures: { type: 'string' }, only: { type: 'string' }, all: { type: 'boolean', default: false } },
});
const site = join(root, 'build/site');
const overflows = readFileSync(join(root, 'tools/site/browser/overflows.js'), 'utf8');

/** The pages to look at, without those whose path lacks what --only says. */
function chosen() {
  const all = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'));
  const kinds = new Set();
  const wanted = all.sort().filter((name) => {
    const [, kind] = /^reference\/(\w+)\//.exec(name) ?? [];
    if (kind === undefined || values.all) return true;
    // The pages of a kind have one form.
    return !kinds.has(kind) && kinds.add(kind);
  });
  return wanted.filter((name) => values.only === undefined || name.includes(values.only));
}

/** @param {Browser} browser */
async function check(browser) {
  const names = chosen();
  let findings = 0;
  for (const width of WIDTHS) {
    await browser.view(width, HEIGHT, 'light');
    for (const name of names) {
      await browser.go(pathToFileURL(join(site, name)).href);
      const found = /** @type {string[]} */ (await browser.evaluate(overflows));
      findings += found.length;
      for (const what of found) console.error(`${name} at ${width} pixels: ${what}`);
    }
  }
  console.log(
    `site: the layout of ${names.length} pages at ${WIDTHS.join(' and ')} pixels, ${findings} cut or too wide`,
  );
  process.exitCode = findings === 0 ? 0 : 1;
}

/** @param {Browser} browser @param {string} folder */
async function takePictures(browser, folder) {
  mkdirSync(folder, { recursive: true });
  const wanted = pages().filter(({ theme }) => LOOKED_AT.has(theme));
  for (const width of WIDTHS) {
    for (const scheme of /** @type {const} */ (['light', 'dark'])) {
      await browser.view(width, HEIGHT, scheme);
      for (const { path } of wanted) {
        const url = urlOf(path);
        await browser.go(pathToFileURL(join(site, `${url}.html`)).href);
        await browser.evaluate(overflows);
        writeFileSync(join(folder, `${url.replaceAll('/', '-')}-${width}-${scheme}.png`), await browser.picture());
      }
    }
  }
}

const program = findBrowser();
if (program === undefined) {
  console.log('site: the layout is not checked: there is no chromium (apt-get install chromium-headless-shell)');
} else {
  const browser = new Browser(program);
  try {
    await browser.open();
    await check(browser);
    if (values.pictures !== undefined) await takePictures(browser, values.pictures);
  } finally {
    await browser.close();
  }
}
