import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The result of a program. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** npm's program for node: its first line would need /usr/bin/env. */
const npm = realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim());

/**
 * A project of a user: a folder of its own, with a home of its own, and without compilers on PATH.
 */
export class Project {
  readonly folder: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor(registry: string) {
    this.folder = mkdtempSync(join(tmpdir(), 'verbs-project-'));
    const bin = join(this.folder, '.bin');
    mkdirSync(bin);
    symlinkSync(process.execPath, join(bin, 'node'));
    this.#env = { PATH: bin, HOME: this.folder, npm_config_registry: registry };
    this.write('package.json', '{ "name": "users-project", "private": true, "type": "module" }\n');
  }

  write(name: string, text: string): string {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  /** Installs packages with npm, without running their scripts. The registry may be in this process. */
  install(...packages: string[]): Promise<Ended> {
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
    const args = [npm, 'install', ...options, ...packages];
    return new Promise((resolve) => {
      execFile(process.execPath, args, { cwd: this.folder, env: this.#env }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
      });
    });
  }

  /** Runs node in the project. */
  node(args: readonly string[], env: NodeJS.ProcessEnv = {}): Ended {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: this.folder,
      env: { ...this.#env, ...env },
      encoding: 'utf8',
      timeout: 60_000,
    });
    return { code: status, stdout, stderr };
  }

  /** Runs a program's text; `name` ends with its kind of module. */
  run(name: string, text: string, env?: NodeJS.ProcessEnv): Ended {
    return this.node([this.write(name, text)], env);
  }

  /** The path of a file of an installed package. */
  installed(name: string, ...parts: string[]): string {
    return join(this.folder, 'node_modules', name, ...parts);
  }

  /** Changes the native files of an installed package, and puts them back. */
  broken<T>(name: string, change: (folder: string) => void, body: () => T): T {
    const native = this.installed(name, 'prebuilds');
    const saved = join(this.folder, 'saved');
    cpSync(native, saved, { recursive: true });
    try {
      change(this.installed(name));
      return body();
    } finally {
      rmSync(native, { recursive: true, force: true });
      cpSync(saved, native, { recursive: true });
      rmSync(saved, { recursive: true });
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** Replaces bytes in a file by as many others. */
export function patch(path: string, from: string, to: string): void {
  const content = readFileSync(path, 'latin1');
  if (!content.includes(from) || from.length !== to.length) throw new Error(`${path} has no ${from}`);
  writeFileSync(path, content.replaceAll(from, to), 'latin1');
}
