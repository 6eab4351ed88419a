// `npm run trial packed`: the packages as users get them.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runCommand } from '../check/src/command.mjs';
import { setUp } from '../setup/src/set-up.mjs';
import { exitStatus } from '../setup/src/shell.mjs';

const usage = `Usage: npm run trial packed -- [--short]

Packs every package, serves them from a registry of its own, installs them into empty projects without scripts and
without compilers, and uses them there; then breaks them on purpose. Other package managers, releases of Node.js, bundlers, Bun and
Deno are fetched from npm into .tools/, and small Debian systems with debootstrap, which takes root. \`npm test\` runs the
short form.

  --short  what npm test runs: npm, Node.js as it is here, TypeScript with one kind of resolution; nothing is fetched
  --help   print this text`;

/** @param {string[]} args */
function readOptions(args) {
  return parseArgs({
    args,
    options: { short: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
  }).values;
}

/** @param {ReturnType<typeof readOptions>} options */
function testPacked({ short }) {
  const env = { ...setUp({ forTests: true }), ...(!short && { VERBS_PACKED_LONG: '1' }) };
  return exitStatus('vitest', ['run'], { cwd: dirname(fileURLToPath(import.meta.url)), env });
}

await runCommand({ name: 'packed', usage, read: readOptions, run: testPacked });
