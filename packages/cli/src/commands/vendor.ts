import { Failure, messageOf } from '@verbs/lib/failure';

/** Loads a module that needs a vendor's package, which is not a dependency of the command. */
export async function loadVendor<T>(name: string, module: () => Promise<T>): Promise<T> {
  try {
    return await module();
  } catch (error) {
    throw new Failure(`${name} cannot be loaded: ${messageOf(error)}`, {
      hint: `npm install -g ${name}, beside @verbs/cli`,
      cause: error,
    });
  }
}
