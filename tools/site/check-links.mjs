// The end of `npm run site`: every link of the site leads somewhere, and no page loads anything from elsewhere.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../setup/src/paths.mjs';
import { checkPages } from './src/links.mjs';

const site = join(root, 'build/site');
const files = readdirSync(site, { recursive: true, encoding: 'utf8' });
const pages = new Map(
  files.filter((name) => name.endsWith('.html')).map((name) => [name, readFileSync(join(site, name), 'utf8')]),
);
const { count, findings } = checkPages(pages, new Set(files));
for (const { page, what } of findings) console.error(`${page}: ${what}`);
console.log(`site: ${pages.size} pages, ${count} links, ${findings.length} dead`);
process.exitCode = findings.length === 0 ? 0 : 1;
