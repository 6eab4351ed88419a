// Checks the names in all C++ sources against the rules of .clang-tidy (readability-identifier-naming).
import { availableParallelism } from 'node:os';
import { projectEnvironment } from '../setup/src/environment.mjs';
import { mustFind, Problem } from '../setup/src/problem.mjs';
import { runProgram } from '../setup/src/program.mjs';
import { which } from '../setup/src/shell.mjs';
import { checkUnit } from './src/naming/check-unit.mjs';
import { translationUnits } from './src/naming/translation-units.mjs';

/** @returns {Promise<number>} */
async function checkNames() {
  if (which('clang-tidy-19') === undefined) throw new Problem('not found; on Debian: apt-get install clang-tidy-19');
  const units = translationUnits(projectEnvironment());
  const files = units.reduce((sum, { sources }) => sum + sources.length, 0);
  mustFind(files, 'C++ sources');
  // The largest first, so that no processor ends with it alone.
  const queue = units.sort((a, b) => b.sources.length - a.sources.length);
  /** @type {Set<string>} */
  const findings = new Set();
  const work = async () => {
    for (let unit = queue.shift(); unit !== undefined; unit = queue.shift())
      for (const finding of await checkUnit(unit)) findings.add(finding);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  for (const finding of [...findings].sort()) console.log(finding);
  console.error(`naming: ${files} files, ${findings.size} findings`);
  return findings.size === 0 ? 0 : 1;
}

await runProgram('naming', checkNames);
