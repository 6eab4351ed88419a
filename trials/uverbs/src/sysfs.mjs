import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** @typedef {'mlx5' | 'rxe' | 'hbl'} Driver */

/** What the kernel tells of each adapter, by which libibverbs finds its provider. */
const adapters = {
  // A ConnectX-6 Dx.
  mlx5: { name: 'mlx5_0', abi: 1, modalias: 'pci:v000015B3d0000101Dsv000015B3sd00000016bc02sc00i00' },
  // A Gaudi2.
  hbl: { name: 'hbl_0', abi: 1, modalias: undefined },
  rxe: { name: 'rxe0', abi: 2, modalias: undefined },
};

/** @param {Driver} driver */
export const deviceName = (driver) => adapters[driver].name;

/**
 * Writes a directory that stands for /sys, with one RDMA device of one port.
 * @param {string} root
 * @param {Driver} driver
 */
export function writeSysfs(root, driver) {
  const { name, abi, modalias } = adapters[driver];
  const device = `class/infiniband_verbs/uverbs0`;
  const infiniband = `class/infiniband/${name}`;
  /** @type {Record<string, string>} */
  const files = {
    'class/infiniband_verbs/abi_version': '6',
    [`${device}/ibdev`]: name,
    [`${device}/abi_version`]: String(abi),
    // The number of /dev/null, which stands behind the device file.
    [`${device}/dev`]: '1:3',
    [`${infiniband}/node_type`]: '1: CA',
    [`${infiniband}/fw_ver`]: '22.35.1012',
    [`${infiniband}/node_guid`]: '0200:00ff:fe00:0001',
    [`${infiniband}/sys_image_guid`]: '0200:00ff:fe00:0001',
    [`${infiniband}/ports/1/pkeys/0`]: '0xffff',
    [`${infiniband}/ports/1/link_layer`]: 'Ethernet',
  };
  if (modalias !== undefined) files[`${infiniband}/device/modalias`] = modalias;
  ['fe80', 'fe80', 'mapped', 'mapped'].forEach((kind, index) => {
    const gid = kind === 'fe80' ? 'fe80:0000:0000:0000:0000:00ff:fe00:0001' : '0000:0000:0000:0000:0000:ffff:c000:0201';
    files[`${infiniband}/ports/1/gids/${index}`] = gid;
    files[`${infiniband}/ports/1/gid_attrs/types/${index}`] = index % 2 === 0 ? 'IB/RoCE v1' : 'RoCE v2';
    files[`${infiniband}/ports/1/gid_attrs/ndevs/${index}`] = 'lo';
  });
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), `${content}\n`);
  }
}
