import { rmSync } from 'node:fs';
import { type SoftModel, dropIn, dropInDirectory } from '@verbs/soft';
import { Failure, messageOf } from '@verbs/lib/failure';
import { MODEL_PACKAGES } from './models.js';

/** A directory for LD_LIBRARY_PATH with our libibverbs.so.1, and the vendor libraries of the installed packages. */
export interface DropIn {
  directory: string;
  /** The models of those packages. */
  models: readonly SoftModel[];
  remove(): void;
}

export async function prepareDropIn(): Promise<DropIn> {
  const models = await installedModels();
  try {
    const directory = dropInDirectory(models);
    return {
      directory,
      models,
      remove: () => {
        // Only a directory created for these models may be removed.
        if (directory !== dropIn) rmSync(directory, { recursive: true, force: true });
      },
    };
  } catch (error) {
    throw new Failure(`the software NIC cannot be used: ${messageOf(error)}`, {
      hint: 'reinstall @verbs/soft; in a checkout, run "npm run setup"',
      cause: error,
    });
  }
}

async function installedModels(): Promise<SoftModel[]> {
  const models: SoftModel[] = [];
  for (const { name } of MODEL_PACKAGES) {
    const model = await modelOf(name);
    if (model !== undefined) models.push(model);
  }
  return models;
}

async function modelOf(name: string): Promise<SoftModel | undefined> {
  try {
    const { softModel } = (await import(name)) as { softModel?: SoftModel };
    return softModel;
  } catch {
    // Not installed, which is no error: programs that need it report it themselves.
    return undefined;
  }
}
