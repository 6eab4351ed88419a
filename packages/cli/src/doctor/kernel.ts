import { plural } from '../text.js';
import { type Finding, fail, ok, warn } from './finding.js';
import type { System } from './system.js';

/** Modules that drive a device, by the words of their makers. */
const DRIVERS: Readonly<Record<string, string>> = {
  mlx5_ib: 'NVIDIA ConnectX and BlueField',
  mlx4_ib: 'NVIDIA ConnectX-3',
  habanalabs_ib: 'Gaudi',
  irdma: 'Intel E810',
  bnxt_re: 'Broadcom NetXtreme-E',
  efa: 'Amazon EFA',
  hns_roce_hw_v2: 'HiSilicon',
  qedr: 'Marvell FastLinQ',
  rdma_rxe: "the kernel's soft-RoCE",
  siw: "the kernel's soft-iWARP",
};

/** RDMA in the kernel: its modules, its devices, and the files that a program opens. */
export function checkKernel(system: System): Finding[] {
  return [modules(system), hardware(system), deviceFiles(system)];
}

function modules(system: System): Finding {
  const topic = 'kernel modules';
  const kernel = `Linux ${system.read('/proc/sys/kernel/osrelease')?.trim() ?? 'of an unknown release'}`;
  const loaded = new Set(system.list('/sys/module'));
  const drivers = Object.keys(DRIVERS).filter((name) => loaded.has(name));
  if (!loaded.has('ib_core') || !loaded.has('ib_uverbs')) {
    const missing = ['ib_core', 'ib_uverbs'].filter((name) => !loaded.has(name)).join(' and ');
    return warn(
      topic,
      `${kernel}: ${missing} not loaded: this kernel has no RDMA for programs`,
      'as root: modprobe ib_uverbs, and the driver of your adapter. Containers and small virtual machines often have no ' +
        'modules at all; the software NIC needs none',
    );
  }
  if (drivers.length === 0) {
    return warn(
      topic,
      `${kernel}: ib_uverbs is loaded, but no driver of an adapter`,
      'as root: modprobe mlx5_ib, or what drives your adapter',
    );
  }
  return ok(topic, `${kernel}: ${drivers.map((name) => `${name} (${DRIVERS[name] ?? ''})`).join(', ')}`);
}

function hardware(system: System): Finding {
  const topic = 'kernel devices';
  const devices = system.list('/sys/class/infiniband');
  if (devices.length > 0) return ok(topic, `/sys/class/infiniband has ${devices.join(', ')}`);
  return warn(
    topic,
    'no device in /sys/class/infiniband: the kernel drives no RDMA adapter',
    'see whether there is one (lspci | grep -i -e mellanox -e infiniband -e ethernet) and load its driver; in a container, ' +
      'pass the host’s in',
  );
}

function deviceFiles(system: System): Finding {
  const topic = 'device files';
  const files = system.list('/dev/infiniband').filter((name) => name.startsWith('uverbs'));
  if (files.length === 0) {
    const inContainer = system.list('/sys/class/infiniband').length > 0;
    return warn(
      topic,
      'no /dev/infiniband/uverbs*',
      inContainer
        ? 'the kernel has a device but its file is not here: start the container with --device=/dev/infiniband'
        : 'it appears together with a kernel device',
    );
  }
  const refused = files.filter((name) => system.accessError(`/dev/infiniband/${name}`) !== undefined);
  if (refused.length === 0)
    return ok(topic, `${plural(files.length, 'file')} in /dev/infiniband, readable and writable`);
  return fail(
    topic,
    `no permission for ${refused.map((name) => `/dev/infiniband/${name}`).join(', ')}`,
    'as root: chmod a+rw /dev/infiniband/uverbs*, or the udev rules of rdma-core (apt-get install rdma-core)',
  );
}
