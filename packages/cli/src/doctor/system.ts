import { accessSync, constants, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '@verbs/lib/failure';

/**
 * The checks' view of the machine. Every path is below `root`, so that tests can present another machine by files.
 */
export class System {
  readonly #root: string;

  constructor(root = '/') {
    this.#root = root;
  }

  /** The content of a file, or undefined if it is not there or not readable. */
  read(path: string): string | undefined {
    try {
      return readFileSync(this.#path(path), 'utf8');
    } catch {
      return undefined;
    }
  }

  /** The names in a directory, none if it is not there. */
  list(path: string): string[] {
    try {
      return readdirSync(this.#path(path)).sort();
    } catch {
      return [];
    }
  }

  link(path: string): string | undefined {
    try {
      return readlinkSync(this.#path(path));
    } catch {
      return undefined;
    }
  }

  /** Why this process cannot use a file: 'ENOENT', 'EACCES', …; undefined if it can. */
  accessError(path: string): string | undefined {
    try {
      accessSync(this.#path(path), constants.R_OK | constants.W_OK);
      return undefined;
    } catch (error) {
      return codeOf(error) ?? 'EIO';
    }
  }

  #path(path: string): string {
    return join(this.#root, path);
  }
}
