// Roots: the files of another release of Debian, in which its programs run with this machine's kernel.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { installMissing } from '../../../tools/setup/src/debian.mjs';
import { root as checkout } from '../../../tools/setup/src/paths.mjs';
import { Problem } from '../../../tools/setup/src/problem.mjs';
import { say } from '../../../tools/setup/src/say.mjs';
import { exitStatus, mustRun } from '../../../tools/setup/src/shell.mjs';

/** @import { Release } from './releases.mjs' */

/** Roots stay here between runs and for all checkouts: each takes two minutes and 500 MB. */
const kept = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'verbs-roots');

const noRoot = 'roots of other releases are made by debootstrap, which needs root';

/** Why there can be no roots here, or undefined. */
export function whyNoRoots() {
  if (process.getuid?.() !== 0) return noRoot;
  // A container may be root and yet mount nothing.
  const { status, stderr } = spawnSync('unshare', ['--mount', 'true'], { encoding: 'utf8' });
  return status === 0 ? undefined : `${noRoot} and mounts: ${stderr.trim()}`;
}

export class Root {
  /** @param {string} path */
  constructor(path) {
    this.path = path;
    /** Where this checkout is inside. */
    this.checkout = checkout;
  }

  /**
   * The command that runs another one inside, with this checkout and the temporary folder at the same paths.
   * @param {string[]} command
   * @returns {string[]}
   */
  enter(...command) {
    return [...this.prefix, ...command];
  }

  /** In front of a command that is to run inside. The mounts are gone with it. */
  get prefix() {
    const shared = [...new Set([tmpdir(), checkout])];
    const mounts = [
      // A mount point itself: `ip netns` changes how / is mounted.
      'mount --bind "$0" "$0"',
      'mount -t proc proc "$0/proc"',
      ...['/sys', '/dev'].map((path) => `mount --rbind ${path} "$0${path}"`),
      // This machine's certificates, for its registries.
      '[ ! -d /etc/ssl/certs ] || { mkdir -p "$0/etc/ssl/certs" && mount --bind /etc/ssl/certs "$0/etc/ssl/certs"; }',
      ...shared.map((path) => `mkdir -p "$0${path}" && mount --bind "${path}" "$0${path}"`),
    ];
    return ['unshare', '--mount', '--', 'sh', '-c', `${mounts.join(' && ')} && exec chroot "$0" "$@"`, this.path];
  }

  /**
   * The standard output of a command inside; a failure is a Problem.
   * @param {string[]} command
   */
  output(...command) {
    const [program, ...args] = this.enter(...command);
    const { status, stdout, stderr } = spawnSync(program ?? '', args, { encoding: 'utf8', maxBuffer: 1 << 28 });
    if (status !== 0) throw new Problem(`${command.join(' ')}: status ${status}: ${stderr.trim()}`);
    return stdout;
  }

  /** @param {string} name of a package @returns {string} its upstream version, or '' */
  versionOf(name) {
    const { stdout } = spawnSync('chroot', [this.path, 'dpkg-query', '-W', '-f', '${Version}', name], {
      encoding: 'utf8',
    });
    return stdout.replace(/^\d+:/, '').replace(/-[^-]*$/, '');
  }
}

/**
 * The root of a release with these packages, made if it is not there yet.
 * @param {Release} release
 * @param {string[]} packages
 */
export function openRoot({ suite, title }, packages) {
  const reason = whyNoRoots();
  if (reason !== undefined) throw new Problem(reason);
  const path = join(kept, suite);
  if (!existsSync(path)) {
    installMissing(['debootstrap']);
    say(title, `making a root in ${path}, which takes about two minutes`);
    make(suite, path);
  }
  const root = new Root(path);
  addPackages(root, packages);
  return root;
}

/**
 * @param {string} suite
 * @param {string} path
 */
function make(suite, path) {
  const partial = `${path}.${process.pid}`;
  mkdirSync(kept, { recursive: true });
  try {
    const from = mirror();
    mustRun('debootstrap', ['--variant=minbase', suite, partial, ...(from === undefined ? [] : [from])]);
    // A mirror's copy of unstable may be older than its validity.
    writeFileSync(
      join(partial, 'etc/apt/apt.conf.d/99verbs'),
      'Acquire::Check-Valid-Until "false";\nAPT::Install-Recommends "false";\n',
    );
    renameSync(partial, path);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** The mirror that this machine's apt uses, or undefined for debootstrap's own. */
function mirror() {
  const { stdout } = spawnSync('apt-get', ['indextargets', '--format', '$(REPO_URI)', 'Origin: Debian'], {
    encoding: 'utf8',
  });
  return stdout.split('\n').find((line) => /\/debian\/?$/.test(line));
}

/**
 * @param {Root} root
 * @param {string[]} packages
 */
function addPackages(root, packages) {
  const stamp = join(root.path, 'var/lib/verbs-packages');
  const there = existsSync(stamp) ? readFileSync(stamp, 'utf8').split('\n') : [];
  const missing = packages.filter((name) => !there.includes(name));
  if (missing.length === 0) return;
  const script = `export DEBIAN_FRONTEND=noninteractive; apt-get -q update && apt-get -q install -y ${missing.join(' ')}`;
  const [program, ...args] = root.enter('sh', '-c', script);
  if (exitStatus(program ?? '', args) !== 0) throw new Problem(`packages are missing in ${root.path}`);
  writeFileSync(stamp, [...there, ...missing].join('\n'));
}
