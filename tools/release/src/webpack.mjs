import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from '../../setup/src/npm.mjs';
import { toolsDirectory } from '../../setup/src/paths.mjs';
import { say } from '../../setup/src/say.mjs';

const VERSION = '5.112.2';

/** A folder that has webpack in its node_modules, fetched if it is not there: nothing else of the project needs it. */
export function webpackFolder() {
  const home = join(toolsDirectory, `webpack-${VERSION}`);
  if (!existsSync(join(home, 'node_modules/webpack/package.json'))) {
    say('tools', `fetching webpack ${VERSION} from npm`);
    mkdirSync(home, { recursive: true });
    npm(['install', '--prefix', home, '--no-save', '--no-package-lock', '--ignore-scripts', `webpack@${VERSION}`]);
  }
  return home;
}
