import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { checkBuilt, linkLibraries, type SoftModel } from './drop-in.js';
import { makeMachineFolder, removeLeftovers } from './machine-folder.js';
import { dropIn, nicLibrary, systemLibrary } from './paths.js';

/** What makes this machine look like one with RDMA devices, to the programs that get the environment. */
export interface Machine {
  /**
   * Variables for a program: `LD_LIBRARY_PATH` with the libraries of the software NIC, `LD_PRELOAD` with the library that
   * has `/dev/infiniband` and `/sys/class/infiniband`, `VERBS_SOFT_SYSTEM`, its folder, and `VERBS_SOFT_MODELS`, the
   * libraries of the models, whose devices are there for programs that do not load them. `ASAN_OPTIONS` lets a program with
   * AddressSanitizer start, which else refuses to be anything but the first library.
   */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Makes the files of the devices that an environment of the machine has: else its first program does, whose limits may not
   * allow it. What fails, that program does again.
   */
  makeFiles(environment: NodeJS.ProcessEnv): void;
  /** Whether a program of the machine has loaded the software NIC's libibverbs, and asked it for its devices. */
  used(): boolean;
  /** Removes its temporary folder. The programs must have ended. */
  remove(): void;
}

/**
 * Prepares the environment for unmodified programs: they load the libraries of the software NIC, and find its devices in
 * `/dev/infiniband` and `/sys/class/infiniband` as if they were the kernel's. No root is needed. Programs that are
 * statically linked, set-user-ID, or that call the kernel without libc are out of reach.
 *
 * The programs of a machine share its files, and its counters are the sums of what they have counted. The first one makes
 * the files. The temporary folder of a process that ended without `remove()` is removed by the next machine.
 *
 * @param models vendors' models whose libraries the programs load as well
 * @param inherited variables whose `LD_LIBRARY_PATH` and `LD_PRELOAD` stay in effect, behind and before ours
 * @throws Error if the software NIC or a model is not built.
 * @example
 * import { spawnSync } from 'node:child_process';
 *
 * const machine = machineFor();
 * try {
 *   spawnSync('ibstat', { env: { ...process.env, ...machine.environment }, stdio: 'inherit' });
 * } finally {
 *   machine.remove();
 * }
 */
export function machineFor(
  models: readonly SoftModel[] = [],
  inherited: Readonly<Record<string, string | undefined>> = process.env,
): Machine {
  checkBuilt();
  removeLeftovers();
  const folder = makeMachineFolder();
  const remove = () => {
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    // Programs that give up their rights see it too.
    chmodSync(folder, 0o755);
    let libraries = dropIn;
    if (models.length > 0) {
      libraries = join(folder, 'libraries');
      mkdirSync(libraries);
      linkLibraries(models, libraries);
    }
    // The loader splits LD_PRELOAD at spaces, which the path of the package may have.
    const preload = join(folder, basename(systemLibrary));
    symlinkSync(systemLibrary, preload);
    symlinkSync(nicLibrary, join(folder, basename(nicLibrary)));
    const system = join(folder, 'system');
    mkdirSync(system);
    const loaded = join(system, 'loaded');
    writeFileSync(loaded, '');
    chmodSync(loaded, 0o666);
    const forget = () => {
      utimesSync(loaded, 0, 0);
    };
    forget();
    return {
      environment: {
        LD_LIBRARY_PATH: joined(libraries, inherited['LD_LIBRARY_PATH']),
        // A sanitizer's runtime, which may be there, must be first.
        LD_PRELOAD: joined(inherited['LD_PRELOAD'], preload),
        VERBS_SOFT_SYSTEM: system,
        VERBS_SOFT_MODELS: models.map(({ library }) => basename(library)).join(':'),
        ASAN_OPTIONS: joined(inherited['ASAN_OPTIONS'], 'verify_asan_link_order=0'),
      },
      makeFiles: (environment) => {
        spawnSync('true', [], { env: environment, stdio: 'ignore' });
        forget();
      },
      // A program that cleans its temporary folder leaves nothing to tell by.
      used: () => (statSync(loaded, { throwIfNoEntry: false })?.mtimeMs ?? 1) > 0,
      remove,
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/** An empty element of such a path would stand for the working directory. */
function joined(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join(':');
}
