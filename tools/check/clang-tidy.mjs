// Runs clang-tidy over the C++ sources that the build compiles.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { projectEnvironment } from '../setup/src/environment.mjs';
import { root } from '../setup/src/paths.mjs';
import { Problem } from '../setup/src/problem.mjs';
import { runProgram } from '../setup/src/program.mjs';
import { which } from '../setup/src/shell.mjs';
import { compiledFiles } from './src/compiled-files.mjs';

/** @param {import('./src/compiled-files.mjs').CompiledFile} job */
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

/** @returns {Promise<number>} */
async function tidyEverything() {
  if (which('clang-tidy-19') === undefined) throw new Problem('not found; on Debian: apt-get install clang-tidy-19');
  const jobs = compiledFiles(projectEnvironment());
  const total = jobs.length;
  let failures = 0;
  const work = async () => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) if (!(await tidy(job))) failures += 1;
  };
  if (total === 0) throw new Problem('nothing has been compiled yet; run `npm run setup` first');
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  console.error(`clang-tidy: ${total} files, ${failures} with findings`);
  return failures === 0 ? 0 : 1;
}

await runProgram('clang-tidy', tidyEverything);
