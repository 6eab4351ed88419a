import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../setup/src/paths.mjs';

/** The first program of the README of @verbs/core, and what it prints. */
export const HELLO = /```js\n([^]*?)```/.exec(readFileSync(join(root, 'packages/core/README.md'), 'utf8'))?.[1] ?? '';
export const HELLO_OUTPUT = 'hello over verbs\n';

/** The same program for `require`. */
export function commonJs(text: string): string {
  const required = text.replace(/^import (\{.*?\}) from (.*?);$/gm, 'const $1 = require($2);');
  return `(async () => {\n${required}\n})();\n`;
}
