import process from 'node:process';
import { runProgram } from '../../setup/src/program.mjs';

/**
 * Runs a command with options. Its exit code is the result of `run`; 0 with `--help`; 2, with the usage, where `read` throws
 * a TypeError.
 * @template {{ help: boolean }} Options
 * @param {{
 *   name: string,
 *   usage: string,
 *   read: (args: string[]) => Options,
 *   run: (options: Options) => number | Promise<number>,
 * }} command
 */
export async function runCommand({ name, usage, read, run }) {
  await runProgram(name, () => {
    /** @type {Options} */
    let options;
    try {
      options = read(process.argv.slice(2));
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      console.error(`${name}: ${error.message}\n\n${usage}`);
      return 2;
    }
    if (!options.help) return run(options);
    console.log(usage);
    return 0;
  });
}
