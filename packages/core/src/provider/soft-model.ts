import { join } from 'node:path';
import { nativeFolder } from '../base/addon.js';

/**
 * The model of a vendor's devices for the software NIC: for `verbs run`, and for `dropInDirectory()` of @verbs/soft.
 */
export interface SoftModel<Kind extends string = string> {
  /** The `kind=` of such a device in the configuration. */
  readonly kind: Kind;
  /** The model's library, for loading by this path. */
  readonly library: string;
  /** The folder with the model under the vendor's own names, such as `libmlx5.so.1`. */
  readonly dropIn: string;
}

/** Where a provider package has its model. */
export interface ModelPlace<Kind extends string> {
  /** The package's name, '@verbs/hbl'. */
  name: string;
  /** The `kind=` of a device in the configuration, 'hbl'. */
  kind: Kind;
  /** The model's library in the package's folder `build/lib`, or in that of its prebuilt files. */
  library: string;
  /** `import.meta.url` of a module of the package. */
  from: string;
}

/** The paths of a provider package's model: `softModel` of that package. */
export function softModelAt<const Kind extends string>({
  name,
  kind,
  library,
  from,
}: ModelPlace<Kind>): SoftModel<Kind> {
  const folder = nativeFolder({ name, file: `build/lib/${library}`, from });
  return { kind, library: join(folder, library), dropIn: join(folder, 'dropin') };
}
