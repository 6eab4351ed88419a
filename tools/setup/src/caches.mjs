import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { toolsDirectory } from './paths.mjs';

/**
 * The caches of npm, pnpm and whatever follows XDG stay where the user has them, unless the home folder cannot be
 * written (as for a service account): then they go into this checkout.
 * @returns {Record<string, string>}
 */
export function cacheEnvironment() {
  try {
    accessSync(homedir(), constants.W_OK);
    return {};
  } catch {
    return {
      npm_config_cache: join(toolsDirectory, 'npm-cache'),
      npm_config_store_dir: join(toolsDirectory, 'pnpm-store'),
      XDG_CACHE_HOME: join(toolsDirectory, 'cache'),
      XDG_CONFIG_HOME: join(toolsDirectory, 'config'),
      XDG_DATA_HOME: join(toolsDirectory, 'data'),
      XDG_STATE_HOME: join(toolsDirectory, 'state'),
    };
  }
}
