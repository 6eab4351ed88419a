// Runs a command with the project's own pnpm, programs and Node headers: `node tools/setup/run.mjs turbo run build`.
import process from 'node:process';
import { projectEnvironment } from './src/environment.mjs';
import { runProgram } from './src/program.mjs';
import { exitStatus } from './src/shell.mjs';

const [command, ...args] = process.argv.slice(2);
await runProgram('run', () => {
  if (command !== undefined) return exitStatus(command, args, { env: projectEnvironment() });
  console.error('Usage: node tools/setup/run.mjs COMMAND [ARGUMENT…]');
  return 2;
});
