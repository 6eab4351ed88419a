import { type Machine, type SoftModel, machineFor } from '@verbs/soft';
import { codeOf, Failure, messageOf } from '@verbs/lib/failure';
import { load, providers } from '../providers.js';

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
  for (const provider of providers()) {
    const { softModel } = (await load(provider)) ?? {};
    if (softModel !== undefined) models.push(softModel);
  }
  return models;
}
