import { installMissing } from '../../../tools/setup/src/debian.mjs';

/** Installs the libraries that are driven, and the headers that the emulated kernel and the twin are compiled with. */
export function installForUverbs() {
  installMissing(['g++', 'ibverbs-providers', 'libibverbs-dev', 'libibverbs1']);
}
