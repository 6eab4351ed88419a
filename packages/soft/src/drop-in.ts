import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { dropIn, nicLibrary } from './paths.js';

/** The description of a vendor's model for the software NIC. */
export interface SoftModel {
  /** The kind of its devices, for example 'mlx5'. */
  kind: string;
  /** Absolute path of the model's library. */
  library: string;
  /** Absolute path of the folder with the model under the vendor's own library name (`libmlx5.so.1`). */
  dropIn: string;
}

/**
 * Returns a directory for LD_LIBRARY_PATH with the `libibverbs.so.1` of the software NIC and the vendors' libraries of
 * the models. Without models it is the directory of this package, {@link dropIn}. With models it is a new private
 * directory of symbolic links, which the caller removes.
 *
 * @throws Error if the software NIC or a model is not built.
 * @example
 * import { spawn } from 'node:child_process';
 *
 * spawn('ibv_devinfo', { env: { ...process.env, LD_LIBRARY_PATH: dropInDirectory() } });
 */
export function dropInDirectory(models: readonly SoftModel[] = []): string {
  checkBuilt();
  if (models.length === 0) return dropIn;
  const directory = mkdtempSync(join(resolve(tmpdir()), 'verbs-dropin-'));
  try {
    linkLibraries(models, directory);
    return directory;
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

/** @throws Error if the software NIC is not built. */
export function checkBuilt(): void {
  if (existsSync(join(dropIn, 'libibverbs.so.1'))) return;
  throw new Error(
    `the software NIC is not built (${dropIn}); reinstall @verbs/soft, or in a checkout run "npm run setup"`,
  );
}

/** Makes in `directory` the symbolic links of {@link dropInDirectory}. */
export function linkLibraries(models: readonly SoftModel[], directory: string): void {
  symlinkSync(nicLibrary, join(directory, 'libverbs-soft-nic.so.1'));
  // The drop-in library of a model loads the model from its own directory.
  for (const { library } of models) symlinkSync(library, join(directory, basename(library)));
  for (const folder of [dropIn, ...models.map((model) => model.dropIn)]) {
    for (const file of readdirSync(folder)) symlinkSync(join(folder, file), join(directory, file));
  }
}
