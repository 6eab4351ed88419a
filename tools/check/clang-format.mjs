// Checks the format of all C and C++ sources; with --write it puts them right.
import process from 'node:process';
import { runProgram } from '../setup/src/program.mjs';
import { exitStatus } from '../setup/src/shell.mjs';
import { cppSources } from './src/sources.mjs';

const mode = process.argv.includes('--write') ? ['-i'] : ['--dry-run', '--Werror'];
const sources = cppSources();
console.error(`clang-format: ${sources.length} files`);
// The release matters: another one formats otherwise.
await runProgram('clang-format', () => exitStatus('clang-format-19', [...mode, ...sources]));
