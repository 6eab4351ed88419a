import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// src/ and dist/ both lie right below the package's root.
const lib = join(dirname(fileURLToPath(import.meta.url)), '..', 'build', 'lib');

/**
 * The model of these devices for the software NIC: what `verbs run` and `dropInDirectory()` of @verbs/soft take.
 *
 * A device of the configuration is one by `kind=hbl`; its options are `profile` (`gaudi`, the default, has all that the
 * manual describes and the ordinary verbs; `gaudi2` accepts exactly what that kernel driver does), `ports` (default 4)
 * and `closed_ports` (a mask of ports whose network interface is down: bit 1 is port 1).
 */
export const softModel = {
  /** What `kind=` says in the configuration of a device. */
  kind: 'hbl',
  /** The model's library, for loading by this path. */
  library: join(lib, 'libverbs-soft-hbl.so.1'),
  /** The folder with the model under the vendor's own name, `libhbl.so.1`. */
  dropIn: join(lib, 'dropin'),
} as const;
