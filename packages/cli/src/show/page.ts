import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { jsonText, lineOf } from '@verbs/lib/text';
import type { Course } from './course.js';
import { pageData } from './page-data.js';
import { STYLE } from './page-style.js';

/** Built from browser/main.ts, beside the command's own bundle. */
const SCRIPT = new URL('./ladder.global.js', import.meta.url);

/** A page with the ladder of a course. It loads nothing: script, style and packets are in it. */
export function page(course: Course): string {
  const title = escapeHtml(lineOf(`${basename(course.file)}: RDMA packets`));
  // A string in JSON may hold anything, but no "<" can end the element.
  const data = jsonText(JSON.stringify(pageData({ ...course, file: basename(course.file) }))).replaceAll(
    '<',
    '\\u003c',
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>${title}</title>
<style>
${STYLE}</style>
</head>
<body>
<noscript>This page draws with JavaScript, which is switched off. "verbs show CAPTURE" prints the same as text.</noscript>
<script type="application/json" id="data">${data}</script>
<script>
${readFileSync(SCRIPT, 'utf8').replaceAll('</script', '<\\/script')}
</script>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
