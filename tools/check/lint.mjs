// `npm run lint`: the checks of sources, documents and packages, all or those that are named.
import { parseArgs } from 'node:util';
import { installMissing, lintPackages } from '../setup/src/debian.mjs';
import { Problem } from '../setup/src/problem.mjs';
import { setUp } from '../setup/src/set-up.mjs';
import { exitStatus } from '../setup/src/shell.mjs';
import { chains, onDemand } from './src/checks.mjs';
import { runCommand } from './src/command.mjs';

const short = (/** @type {string} */ task) => task.replace('lint:', '');
const names = chains.flat().map(short);

const usage = `Usage: npm run lint [NAME…]

Checks sources, documents and packages, and goes on after one that fails. Installs what the checks need; where it may not, the
checks whose programs are missing say so.

  NAME  ${names.slice(0, 7).join(', ')},
        ${names.slice(7).join(', ')}: all of them, if none is given;
        ${onDemand.map(short).join(', ')}: only where they are named: what the compiler says (js has it, too), and
        clang-tidy over the C++ that the build compiles, minutes`;

/** @param {string[]} args */
function readOptions(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { help: { type: 'boolean', default: false } },
  });
  const known = [...chains.flat(), ...onDemand];
  const tasks = positionals.length === 0 ? chains.flat() : known.filter((task) => positionals.includes(short(task)));
  const unknown = positionals.find((name) => !known.some((task) => short(task) === name));
  if (unknown !== undefined) throw new TypeError(`there is no check ${unknown}`);
  return { ...values, tasks };
}

/** Without the rights to install them, all other checks run, and these fail with what to do. */
function installCheckers() {
  try {
    installMissing(lintPackages);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    console.error(`lint: ${error.message}`);
  }
}

await runCommand({
  name: 'lint',
  usage,
  read: readOptions,
  run: ({ tasks }) => {
    const env = setUp({ forTests: false });
    installCheckers();
    return exitStatus('turbo', ['run', '--continue', '--output-logs=new-only', ...tasks], { env });
  },
});
