import process from 'node:process';
import { Problem } from './problem.mjs';
import { which } from './shell.mjs';

/** The oldest Node that runs the project, as in the root's package.json. */
const oldestNode = [20, 19];

/** Programs that no step installs: the machine must have them. */
const programs = ['g++', 'make', 'python3'];

/** Throws a Problem that names everything that is missing at once. */
export function checkRequirements() {
  const faults = [];
  if (process.platform !== 'linux') faults.push(`this is ${process.platform}; the project runs on Linux only`);
  if (!isNewEnough(process.versions.node)) {
    faults.push(`Node ${process.versions.node} is too old; install Node ${oldestNode.join('.')} or newer`);
  }
  const missing = programs.filter((program) => which(program) === undefined);
  if (missing.length > 0) {
    faults.push(`${missing.join(', ')} not found on PATH; on Debian: apt-get install ${missing.join(' ')}`);
  }
  if (faults.length > 0) throw new Problem(faults.join('\nsetup: '));
}

/**
 * @param {string} version
 * @returns {boolean}
 */
export function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [needMajor = 0, needMinor = 0] = oldestNode;
  return major > needMajor || (major === needMajor && minor >= needMinor);
}
