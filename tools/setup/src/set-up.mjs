import { installDebianPackages } from './debian.mjs';
import { installDependencies } from './dependencies.mjs';
import { projectEnvironment } from './environment.mjs';
import { getNodeHeaders } from './node-headers.mjs';
import { getPnpm } from './pnpm.mjs';
import { checkRequirements } from './requirements.mjs';
import { say } from './say.mjs';
import { mustRun } from './shell.mjs';

/**
 * Makes the checkout ready, one step after the other; each step skips work that is already done.
 * @param {{ forTests: boolean }} options
 * @returns {NodeJS.ProcessEnv} the environment to run the project's commands in
 */
export function setUp({ forTests }) {
  checkRequirements();
  installDebianPackages({ forTests });
  getPnpm();
  getNodeHeaders();
  const env = projectEnvironment();
  installDependencies(env);
  say('build', 'bringing all packages up to date');
  mustRun('turbo', ['run', 'build', '--output-logs=new-only'], { env });
  return env;
}
