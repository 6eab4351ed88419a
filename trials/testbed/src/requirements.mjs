import { installMissing, missingPackages } from '../../../tools/setup/src/debian.mjs';

/** Debian packages of the virtual machine and of the programs that run in it. */
const testbedPackages = [
  ...['busybox-static', 'cpio', 'kmod', 'qemu-system-x86', 'xz-utils', 'zstd'],
  ...['ibverbs-providers', 'ibverbs-utils', 'iproute2', 'libibverbs-dev', 'perftest', 'rdma-core', 'rdmacm-utils'],
];

/** Installs what is missing of them, and says nothing if all are there. */
export function installForTestbed() {
  if (missingPackages(testbedPackages).length > 0) installMissing(testbedPackages);
}
