import { accessSync, constants, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '@verbs/lib/failure';

/**
 * What the checks read of the machine. `root` stands in front of every path, so that the checks can be tried on a
 * machine that is made of files.
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

  /** What keeps this process from using a file: 'ENOENT', 'EACCES', … or undefined if nothing does. */
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
