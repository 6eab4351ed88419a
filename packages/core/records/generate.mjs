// Writes the files that table.mjs describes; with --check it only tells which of them differ.
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { renderHeader } from './render-header.mjs';
import { renderModule } from './render-module.mjs';

const outputs = [
  { path: 'native/binding/posting/records.h', text: renderHeader() },
  { path: 'src/base/records.ts', text: renderModule() },
];

for (const { path, text } of outputs) {
  const file = fileURLToPath(new URL(`../${path}`, import.meta.url));
  if (!process.argv.includes('--check')) {
    writeFileSync(file, text);
  } else if (readFileSync(file, 'utf8') !== text) {
    console.error(`${path} is not what records/table.mjs describes: pnpm run records`);
    process.exitCode = 1;
  }
}
