// The instructions of a message of 64 bytes within one process, both ends, beside the committed figures.
//
//     node trials/bench/bin/instructions.mjs               a table
//     node trials/bench/bin/instructions.mjs --functions   and the functions in which the instructions are
//     node trials/bench/bin/instructions.mjs --commit      writes the figures that the gate compares with
//
// It needs valgrind.
import { commitFigures, committedFigures, countInstructions } from '../src/instructions.mjs';

const FUNCTIONS = 40;

const before = committedFigures().rows;
const rows = countInstructions();
for (const { title, sum, functions } of rows) {
  const known = before[title] === undefined ? '' : `, ${String(before[title])} committed`;
  console.log(`${title.padEnd(26)}${sum.toFixed(0).padStart(7)} instructions a message${known}`);
  if (!process.argv.includes('--functions')) continue;
  for (const { name, count } of functions.slice(0, FUNCTIONS)) console.log(`${count.toFixed(1).padStart(10)}  ${name}`);
}
if (process.argv.includes('--commit')) commitFigures(rows);
