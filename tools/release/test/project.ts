import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Manager, npm } from '../src/managers.mjs';
import { Running } from './running.js';

/** Milliseconds after which a program hangs. A bundler takes a minute on a busy machine. */
const PATIENCE = 240_000;

/** The result of a program. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * A project of a user: a folder of its own, with a home of its own, and without compilers on PATH.
 */
export class Project {
  readonly folder: string;
  readonly #env: NodeJS.ProcessEnv;

  readonly #manager: Manager;

  constructor(registry: string, manager: Manager = npm) {
    this.folder = mkdtempSync(join(tmpdir(), 'verbs-project-'));
    this.#manager = manager;
    const bin = join(this.folder, '.bin');
    mkdirSync(bin);
    symlinkSync(process.execPath, join(bin, 'node'));
    this.#env = { PATH: bin, HOME: this.folder, npm_config_registry: registry };
    this.write('package.json', '{ "name": "users-project", "private": true, "type": "module" }\n');
    for (const [name, text] of Object.entries(manager.files(registry))) this.write(name, text);
  }

  write(name: string, text: string): string {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  /** Installs packages, without running their scripts. */
  install(...packages: string[]): Ended {
    return this.node([this.#manager.program(), ...this.#manager.args, ...packages], {}, 180_000);
  }

  /** Runs node in the project. */
  node(args: readonly string[], env: NodeJS.ProcessEnv = {}, timeout = PATIENCE): Ended {
    return this.program(process.execPath, args, env, timeout);
  }

  /** Runs any program in the project. */
  program(path: string, args: readonly string[], env: NodeJS.ProcessEnv = {}, timeout = PATIENCE): Ended {
    const all = { ...this.#env, ...env };
    const { status, stdout, stderr } = spawnSync(path, args, { cwd: this.folder, env: all, encoding: 'utf8', timeout });
    return { code: status, stdout, stderr };
  }

  /** Starts a program in the project. */
  start(path: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
    return new Running(spawn(path, args, { cwd: this.folder, env: { ...this.#env, ...env } }));
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

/**
 * Makes an installed @verbs/core an old one: the table that it gives to the addons of other packages gets a version that
 * is too early. The table begins with its version and its size; pointers follow, which are offsets in the file.
 */
export function agedTable(path: string): void {
  const content = readFileSync(path);
  for (let at = 0; at + 8 <= content.length; at += 8) {
    const [version, size] = [content.readUInt32LE(at), content.readUInt32LE(at + 4)];
    if (version === 0 || version > 100 || size < 128 || size > 1024 || size % 8 !== 0 || at + size > content.length)
      continue;
    const pointers = Array.from({ length: size / 8 - 1 }, (_, i) => content.readBigUInt64LE(at + 8 * (i + 1)));
    if (pointers.some((pointer) => pointer === 0n || pointer >= content.length)) continue;
    content.writeUInt32LE(1, at);
    writeFileSync(path, content);
    return;
  }
  throw new Error(`${path} has no table`);
}

/**
 * Lets an installed @verbs/core run as in a host whose JavaScript has its memory in a cage, as that of Electron: its addon
 * calls a function that answers as Node-API does there.
 *
 * @returns the environment for that
 */
export function caged(project: Project, addon: string): NodeJS.ProcessEnv {
  patch(addon, 'napi_create_external_arraybuffer\0', 'napi_create_external_arraybuffeR\0');
  const [source, library] = [project.write('cage.c', CAGE), join(project.folder, 'cage.so')];
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, source]);
  return { LD_PRELOAD: library };
}

const CAGE = `/* napi_no_external_buffers_allowed */
int napi_create_external_arraybuffeR(void) { return 22; }
`;

/** Replaces bytes in a file by as many others. */
export function patch(path: string, from: string, to: string): void {
  const content = readFileSync(path, 'latin1');
  if (!content.includes(from) || from.length !== to.length) throw new Error(`${path} has no ${from}`);
  writeFileSync(path, content.replaceAll(from, to), 'latin1');
}
