import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative } from 'node:path';
import { root } from '../../setup/src/paths.mjs';

/** @param {string} path of a document, for instance `docs/guides/porting.md` */
export function urlOf(path) {
  return path
    .replace(/^docs\//, '')
    .replace(/\/README\.md$/, '')
    .replace(/^packages\/(\w+)\/docs\//, '$1-')
    .replace(/\.md$/, '')
    .toLowerCase();
}

/**
 * @param {string} text
 * @param {string} file whose text it is
 * @returns {{ title: string, text: string }} the heading, and the text with what it includes
 */
export function pageText(text, file) {
  const title = /^# (.*)$/m.exec(text)?.[1];
  if (title === undefined) throw new Error(`${relative(root, file)} has no heading`);
  const whole = text
    .replace(/^<!-- include (\S+) -->$/gm, (_, /** @type {string} */ path) => included(join(dirname(file), path)))
    .replace(/^!\[([^\]]*)\]\((\S+\.svg)\)$/gm, (_, /** @type {string} */ alt, /** @type {string} */ path) =>
      figure(join(dirname(file), path), alt),
    );
  return { title: title.replaceAll('`', ''), text: whole };
}

/** @param {string} file */
function included(file) {
  const kind = extname(file) || basename(file);
  const language = { '.mjs': 'js', '.ts': 'ts', '.yml': 'yaml', '.yaml': 'yaml', Dockerfile: 'docker' }[kind] ?? 'text';
  return `\`\`\`${language}\n${read(file).trimEnd()}\n\`\`\``;
}

/**
 * A diagram in the page itself, where the page's colours apply.
 * @param {string} file
 * @param {string} alt
 */
function figure(file, alt) {
  const svg = read(file)
    .replace(/^<\?xml.*\?>\n/, '')
    .replaceAll(/\n\s*\n/g, '\n')
    .replace('<svg ', `<svg role="img" aria-label="${alt.replaceAll('"', '&quot;')}" `);
  return `<figure>${svg.trim()}</figure>`;
}

/** @param {string} file */
function read(file) {
  if (!existsSync(file)) throw new Error(`there is no ${relative(root, file)}, which a document includes`);
  return readFileSync(file, 'utf8');
}
