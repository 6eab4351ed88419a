// Runs a command with the project's own pnpm, programs and Node headers: `node tools/setup/run.mjs turbo run build`.
import process from 'node:process';
import { projectEnvironment } from './src/environment.mjs';
import { Problem } from './src/problem.mjs';
import { exitStatus } from './src/shell.mjs';

const [command, ...args] = process.argv.slice(2);
if (command === undefined) {
  console.error('Usage: node tools/setup/run.mjs COMMAND [ARGUMENT…]');
  process.exitCode = 2;
} else {
  try {
    process.exitCode = exitStatus(command, args, { env: projectEnvironment() });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    console.error(`run: ${error.message}`);
    process.exitCode = 1;
  }
}
