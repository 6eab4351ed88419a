import { type Machine, type SoftModel, machineFor } from '@verbs/soft';
import { codeOf, Failure, messageOf } from '@verbs/lib/failure';
import { MODEL_PACKAGES } from './models.js';

/** The environment of a program on the software NIC, with the vendor libraries of the installed packages. */
export interface DropIn extends Machine {
  /** The models of those packages. */
  models: readonly SoftModel[];
}

export async function prepareDropIn(): Promise<DropIn> {
  const models = await installedModels();
  try {
    return { models, ...machineFor(models) };
  } catch (error) {
    throw unusable(error);
  }
}

/** The failure of a program that needs the software NIC where that is incomplete. */
export function unusable(error: unknown): Failure {
  return new Failure(`the software NIC cannot be used: ${messageOf(error)}`, {
    hint:
      codeOf(error) === 'ENOTDIR'
        ? 'set TMPDIR to a folder that you may write to, without blanks in its path'
        : 'reinstall @verbs/soft; in a checkout, run "npm run setup"',
    cause: error,
  });
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
