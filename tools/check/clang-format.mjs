// Checks the format of all C and C++ sources; with --write it puts them right.
import process from 'node:process';
import { Problem } from '../setup/src/problem.mjs';
import { runProgram } from '../setup/src/program.mjs';
import { exitStatus, which } from '../setup/src/shell.mjs';
import { cppSources } from './src/sources.mjs';

const mode = process.argv.includes('--write') ? ['-i'] : ['--dry-run', '--Werror'];

await runProgram('clang-format', () => {
  // The release matters: another one formats otherwise.
  if (which('clang-format-19') === undefined)
    throw new Problem('not found; on Debian: apt-get install clang-format-19');
  const sources = cppSources();
  console.error(`clang-format: ${sources.length} files`);
  return exitStatus('clang-format-19', [...mode, ...sources]);
});
