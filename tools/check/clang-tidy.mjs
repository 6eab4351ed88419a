// Runs clang-tidy over the C++ sources that the build compiles (not over the tests, whose framework is all macros).
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative, resolve } from 'node:path';
import process from 'node:process';
import { packageDirectories, root } from '../setup/src/paths.mjs';

/** @returns {{ database: string, file: string }[]} what the compilers were called with, each file once */
function compiledFiles() {
  const databases = packageDirectories()
    .flatMap((directory) => [join(directory, 'build'), join(directory, 'native/build/Release')])
    .filter((directory) => existsSync(join(directory, 'compile_commands.json')));
  const jobs = new Map();
  for (const database of databases) {
    const entries = /** @type {{ directory: string, file: string }[]} */ (
      JSON.parse(readFileSync(join(database, 'compile_commands.json'), 'utf8'))
    );
    for (const entry of entries) {
      const file = resolve(entry.directory, entry.file);
      if (/\/native\/(?!test\/|.*node_modules)/.test(file)) jobs.set(file, { database, file });
    }
  }
  return [...jobs.values()];
}

/** @param {{ database: string, file: string }} job */
function tidy({ database, file }) {
  return /** @type {Promise<boolean>} */ (
    new Promise((done, fail) => {
      const child = spawn('clang-tidy-19', ['-p', database, '--quiet', file], { stdio: ['ignore', 'pipe', 'ignore'] });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (/** @type {string} */ text) => (output += text));
      child.on('error', fail);
      child.on('close', (status) => {
        if (status !== 0) console.log(`${relative(root, file)}:\n${output}`);
        done(status === 0);
      });
    })
  );
}

const jobs = compiledFiles();
const total = jobs.length;
let failures = 0;
async function worker() {
  for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) if (!(await tidy(job))) failures += 1;
}
if (total === 0) {
  console.error('clang-tidy: nothing has been compiled yet; run `npm run setup` first');
  process.exitCode = 1;
} else {
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  console.error(`clang-tidy: ${total} files, ${failures} with findings`);
  process.exitCode = failures === 0 ? 0 : 1;
}
