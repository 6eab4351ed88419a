import { posix } from 'node:path';

/**
 * A link that leads nowhere, or something that a page would load from elsewhere.
 * @typedef {object} Finding
 * @property {string} page
 * @property {string} what
 */

/**
 * @param {ReadonlyMap<string, string>} pages their HTML, by their paths in the site
 * @param {ReadonlySet<string>} files all files of the site
 * @returns {{ count: number, findings: Finding[] }}
 */
export function checkPages(pages, files) {
  const anchors = new Map([...pages].map(([page, html]) => [page, anchorsOf(html)]));
  /** @type {Finding[]} */
  const findings = [];
  let count = 0;
  for (const [page, html] of pages) {
    for (const { tag, attributes, target } of references(html)) {
      ++count;
      if (/^[a-z]+:|^\/\//i.test(target)) {
        // A reader may follow a link to another site; a page is complete without one.
        if (tag !== 'a' && !target.startsWith('data:') && !attributes.includes('rel="canonical"'))
          findings.push({ page, what: `loads ${target}` });
        continue;
      }
      const [path = '', anchor = ''] = target.split('#');
      const file =
        path === '' ? page : posix.normalize(posix.join(posix.dirname(page), decodeURI(path.replace(/\?.*/, ''))));
      if (!files.has(file)) findings.push({ page, what: `there is no ${target}` });
      else if (anchor !== '' && anchors.get(file)?.has(decodeURIComponent(anchor)) === false)
        findings.push({ page, what: `${file} has no #${anchor}` });
    }
  }
  return { count, findings };
}

/** @param {string} html */
function references(html) {
  return [
    ...withoutCode(html).matchAll(/<(a|link|script|img|iframe|source|image|use)\b([^>]*?)\s(?:href|src)="([^"]*)"/g),
  ].map(([, tag = '', attributes = '', target = '']) => ({ tag, attributes, target: target.replaceAll('&amp;', '&') }));
}

/** @param {string} html */
function anchorsOf(html) {
  return new Set([...html.matchAll(/\sid="([^"]*)"/g)].map(([, id = '']) => id));
}

/**
 * Scripts and styles hold text that looks like HTML.
 * @param {string} html
 */
function withoutCode(html) {
  return html.replaceAll(/(<(script|style)\b[^>]*>).*?<\/\2>/gs, '$1');
}
