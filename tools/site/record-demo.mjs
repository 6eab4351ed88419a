// `npm run record` in this folder: runs the demo and draws what it prints, when it prints it, into docs/images/demo.svg.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from '../setup/src/paths.mjs';
import { recording } from './src/recording.mjs';

const demo = spawn(process.execPath, [join(root, 'examples/bin/demo.mjs')], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'pipe'],
});
const start = performance.now();
/** @type {import('./src/recording.mjs').Line[]} */
const lines = [];
// The progress goes to standard error.
for (const input of [demo.stdout, demo.stderr]) {
  createInterface({ input }).on('line', (text) => {
    lines.push({ seconds: (performance.now() - start) / 1000, text: text.replaceAll(`${root}/`, '') });
  });
}
await once(demo, 'close');
if (demo.exitCode !== 0) throw new Error(`the demo failed:\n${lines.map(({ text }) => text).join('\n')}`);
writeFileSync(join(root, 'docs/images/demo.svg'), recording('npm run demo', lines));
