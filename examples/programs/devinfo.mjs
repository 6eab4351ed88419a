// @ts-check
// The output of ibv_devinfo: the devices of this machine, their ports and their GIDs.
import { AtomicCap, enumName, formatGuid, LinkLayer, listDevices, Mtu, openDevice, PortState } from '@verbs/core';

const devices = listDevices();
if (devices.length === 0) {
  console.error(`no device: ${devices.reason ?? ''}`);
  process.exitCode = 1;
}
for (const device of devices) {
  const ctx = openDevice(device);
  const attr = ctx.queryDevice();
  console.log(`hca_id: ${device.name} (${device.library})`);
  console.log(`  fw_ver         ${attr.fwVer}`);
  console.log(`  node_guid      ${formatGuid(attr.nodeGuid)}`);
  console.log(`  vendor_id      0x${attr.vendorId.toString(16)}`);
  console.log(`  max_qp         ${attr.maxQp}`);
  console.log(`  atomic_cap     ${enumName(AtomicCap, attr.atomicCap)}`);
  for (let port = 1; port <= attr.physPortCnt; port++) {
    const { state, activeMtu, linkLayer } = ctx.queryPort(port);
    console.log(`  port ${port}`);
    console.log(`    state        ${enumName(PortState, state)}`);
    console.log(`    active_mtu   ${enumName(Mtu, activeMtu)}`);
    console.log(`    link_layer   ${enumName(LinkLayer, linkLayer)}`);
    for (const { index, gid } of ctx.gidTable(port)) console.log(`    GID[${index}]       ${gid}`);
  }
  ctx.close();
}
