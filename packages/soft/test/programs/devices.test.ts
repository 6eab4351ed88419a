import { expect, test } from 'vitest';
import { runOnSoft } from './program.js';

test('ibv_devices lists what is configured', async () => {
  const { status, stdout, stderr } = await runOnSoft('ibv_devices', [], 'soft0;other,mtu=1024');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const lines = stdout.trimEnd().split('\n');
  expect(lines.slice(2).map((line) => line.replace(/[0-9a-f]{16}$/, 'GUID'))).toEqual([
    '    soft0           \tGUID',
    '    other           \tGUID',
  ]);
});

test('ibv_devinfo -v describes a RoCE device with all it can do', async () => {
  const { status, stdout, stderr } = await runOnSoft('ibv_devinfo', ['-v'], 'soft0');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  for (const line of [
    /^hca_id:\tsoft0$/m,
    /^\ttransport:\t+InfiniBand \(0\)$/m,
    /^\tphys_port_cnt:\t+1$/m,
    /^\tmax_qp:\t+[1-9]\d*$/m,
    /^\tatomic_cap:\t+ATOMIC_\w+ \(\d\)$/m,
    /^\t\t\tstate:\t+PORT_ACTIVE \(4\)$/m,
    /^\t\t\tmax_mtu:\t+4096 \(5\)$/m,
    /^\t\t\tactive_mtu:\t+4096 \(5\)$/m,
    /^\t\t\tlink_layer:\t+Ethernet$/m,
    /^\t\t\tphys_state:\t+LINK_UP \(5\)$/m,
    /^\t\t\tGID\[ {2}0\]:\t+::ffff:127\.0\.0\.\d+, RoCE v2$/m,
  ]) {
    expect(stdout).toMatch(line);
  }
});

test('ibv_devinfo of a device that is not there fails', async () => {
  const { status, stderr } = await runOnSoft('ibv_devinfo', ['-d', 'nobody'], 'soft0');
  expect(status).not.toBe(0);
  expect(stderr).toContain("IB device 'nobody' wasn't found");
});
