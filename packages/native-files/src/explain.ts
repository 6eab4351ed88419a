import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { kindOfFile } from './elf.js';
import { type Target, targetName } from './target.js';

/** An attempt to load the native part of a package, which failed. */
export interface Attempt {
  /** The package's name. */
  name: string;
  /** The file that a build leaves, by its path from the package's folder. */
  file: string;
  /** The package's folder, if it was found. */
  folder?: string;
  /** The native file, if there is one. */
  path?: string;
  /** The loader's error, if there is a file. One of the package's own set-up may bring its `reason`, a {@link Reason}. */
  cause?: unknown;
  /** The target of this process. */
  target: Target;
}

/** Why the native part of a package cannot be used, and the remedy: one line. */
export function explain(attempt: Attempt): string {
  const [problem, remedy] = reasonOf(attempt);
  return `the native part of ${attempt.name} cannot be used: ${problem}; ${remedy}`;
}

/** Why something cannot be used, and what helps. */
export type Reason = [problem: string, remedy: string];

/** Why the native part of a package cannot be used. */
export function reasonOf(attempt: Attempt): Reason {
  const { target, path } = attempt;
  const host = hostReason(target);
  if (host !== undefined) return host;
  return path === undefined ? missing(attempt) : (refused(attempt, path) ?? other(attempt, path));
}

function hostReason({ platform, arch }: Target): Reason | undefined {
  if (platform !== 'linux') {
    return [
      `RDMA verbs are a feature of Linux, and this is ${platform} on ${arch}`,
      'run the program on Linux (x64, arm64), also in a container or a virtual machine',
    ];
  }
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    return [`Node.js ${process.versions.node} is too old`, 'use Node.js 20.19 or later'];
  }
  return undefined;
}

function missing({ name, folder, target }: Attempt): Reason {
  if (folder === undefined) {
    return [
      `its code was bundled into another file, and the package is not installed where the bundle can find it`,
      `mark ${name} as external in the bundler's settings, and ship node_modules/${name} with the program`,
    ];
  }
  const there = prebuilds(folder);
  const wanted = targetName(target);
  const elsewhere = `prebuilt files for ${there.join(', ')}, none for ${wanted}`;
  if (there.length === 0) return [`${folder} has no native files`, reinstall(name, folder)];
  const libcs = there.filter((each) => each.startsWith(`${target.platform}-${target.arch}-`));
  if (libcs.length > 0) {
    return [`this Node.js uses the C library ${target.libc ?? 'unknown'}, and ${folder} has ${elsewhere}`, useGlibc];
  }
  return [`${folder} has ${elsewhere}`, `build it: ${buildCommand(folder)}`];
}

/** Reasons that the file or the loader's words tell. */
function refused({ name, folder = '', target, cause }: Attempt, path: string): Reason | undefined {
  const text = cause instanceof Error ? cause.message : String(cause);
  const { code, reason } = cause as { code?: string; reason?: Reason };
  if (reason !== undefined) return reason;
  if (code === 'ERR_DLOPEN_DISABLED' || code === 'ERR_ACCESS_DENIED') {
    // Both have the same error; the second has no object of permissions.
    if ((process as { permission?: unknown }).permission === undefined) {
      return ['Node.js runs with --no-addons', 'start it without this option (also in NODE_OPTIONS, or of a worker)'];
    }
    return ['Node.js runs with --permission and without addons', 'start it with --allow-addons too'];
  }
  const kind = kindOfFile(path);
  if (kind === 'damaged') return [`${path} is damaged, or no library`, reinstall(name, folder)];
  if ('system' in kind) return [`${path} is for ${kind.system}, this is Linux`, copied(name)];
  if (kind.arch !== target.arch)
    return [`${path} is for ${kind.arch}, this Node.js is for ${target.arch}`, copied(name)];
  return versions(folder, text) ?? libraries(text, target);
}

function versions(folder: string, text: string): Reason | undefined {
  const version = /version [`'](GLIBC|GLIBCXX|CXXABI)_([\d.]+)' not found/.exec(text);
  if (version === null) return undefined;
  const [, family, needed = ''] = version;
  const what = family === 'GLIBC' ? `glibc ${needed}` : `libstdc++ (${family ?? ''}_${needed})`;
  const has = family === 'GLIBC' ? `, and this system has ${glibcVersion() ?? 'an older one'}` : '';
  return [
    `it needs ${what}${has}`,
    `use a newer system (Debian 12, Ubuntu 22.04, RHEL 9 or later), or build it here: ${buildCommand(folder)}`,
  ];
}

function libraries(text: string, { libc }: Target): Reason | undefined {
  const symbol = /undefined symbol: ((?:napi|node_api)_\w+)/.exec(text)?.[1];
  if (symbol !== undefined) {
    return [`this host has no ${symbol} of Node-API 9`, 'use Node.js 20.19 or later'];
  }
  const library = /([\w.+-]+\.so[\w.]*): cannot open shared object file/.exec(text)?.[1];
  if (libc === 'musl' || /^ld-linux|^Error relocating/.test(library ?? text)) {
    return ['it was built for glibc, and this Node.js uses musl', useGlibc];
  }
  if (library === undefined) return undefined;
  const ours = library.startsWith('libverbs-');
  const remedy = ours
    ? 'reinstall the package: a file of it is gone'
    : `install it (Debian: ${debianPackage(library)})`;
  return [`the library ${library} is missing`, remedy];
}

function other({ name, folder = '', cause }: Attempt, path: string): Reason {
  return [`${path} does not load: ${cause instanceof Error ? cause.message : String(cause)}`, reinstall(name, folder)];
}

function prebuilds(folder: string): string[] {
  const path = join(folder, 'prebuilds');
  return existsSync(path) ? readdirSync(path).sort() : [];
}

/** The sources do not compile for another C library. */
const useGlibc = 'use a system with glibc (the image node:24-slim instead of node:24-alpine)';

const copied = (name: string) =>
  `node_modules were made on another machine: install ${name} on this one (npm ci), also within a container's build`;

const reinstall = (name: string, folder: string) =>
  `reinstall it (npm install ${name}), or build it: ${buildCommand(folder)}`;

/** The same script in a checkout and in an installed package. */
const buildCommand = (folder: string) =>
  `(cd ${folder} && npm run build:native), with g++, make, python3, cmake, ninja and libibverbs-dev installed`;

function debianPackage(library: string): string {
  if (library.startsWith('libstdc++')) return 'apt-get install libstdc++6';
  if (library.startsWith('libgcc_s')) return 'apt-get install libgcc-s1';
  return `apt-file search ${library}`;
}

/** The version of glibc in use. It is asked for only here: the report takes milliseconds. */
function glibcVersion(): string | undefined {
  try {
    // Without it, the report waits for the names of peers.
    (process.report as { excludeNetwork?: boolean }).excludeNetwork = true;
    const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
    return header?.glibcVersionRuntime;
  } catch {
    return undefined;
  }
}
