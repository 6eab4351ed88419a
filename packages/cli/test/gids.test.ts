import { describe, expect, it } from 'vitest';
import { verbs } from './verbs.js';

describe('verbs gids', () => {
  it('prints the GIDs and marks the default', async () => {
    const VERBS_SOFT = 'away,addr=192.0.2.1;red,addr=127.77.3.1;blue,addr=127.77.3.2';
    const { status, stdout, stderr } = await verbs(['gids'], { VERBS_SOFT });
    // For one device that cannot be opened.
    expect([status, stderr]).toEqual([1, expect.stringContaining('192.0.2.1')]);
    expect(stdout).toMatch(/^ +DEVICE +PORT +INDEX +GID +TYPE +INTERFACE\n/);
    expect(stdout).toMatch(/^\* +red +1 +0 +::ffff:127\.77\.3\.1 +RoCE v2/m);
    expect(stdout).toMatch(/^\* +blue +1 +0 +::ffff:127\.77\.3\.2 +RoCE v2/m);
  });

  it('prints JSON of one device', async () => {
    const env = { VERBS_SOFT: 'red,addr=127.77.3.3;blue,addr=127.77.3.4' };
    const { stdout } = await verbs(['gids', '-d', 'blue', '--json'], env);
    expect(JSON.parse(stdout)).toMatchObject([
      { device: 'blue', port: 1, index: 0, gid: '::ffff:127.77.3.4', type: 'RoCE v2', default: true },
    ]);
  });

  it('names the devices there are, and its JSON is empty', async () => {
    const { status, stdout, stderr } = await verbs(['gids', '-d', 'nope', '--json'], { VERBS_SOFT: 'red' });
    expect(JSON.parse(stdout)).toEqual([]);
    expect(stderr).toMatch(/no device nope\n.*red/);
    expect(status).toBe(1);
  });
});

describe('models of installed packages', () => {
  it('are listed by verbs devices and verbs devinfo', async () => {
    const { stdout } = await verbs(['devices', '--json'], { VERBS_SOFT: '' });
    const names = (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['soft0', 'mlx5_soft0', 'hbl_0']));
    const info = await verbs(['devinfo', '-l', '--json'], { VERBS_SOFT: '' });
    expect(JSON.parse(info.stdout)).toEqual(names);
  });

  it('are loaded for the devices of a configuration', async () => {
    const VERBS_SOFT = 'left,kind=mlx5;right,kind=hbl;dpu,kind=doca';
    const { stdout } = await verbs(['devices', '--json'], { VERBS_SOFT });
    expect((JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)).toEqual(['left', 'right', 'dpu']);
    const { stdout: info } = await verbs(['devinfo', '-d', 'right', '--json'], { VERBS_SOFT });
    expect(JSON.parse(info)).toMatchObject([{ name: 'right', library: 'soft' }]);
  });

  it('a device that is not there is an empty array in JSON', async () => {
    const { status, stdout, stderr } = await verbs(['devinfo', '-d', 'nope', '--json'], { VERBS_SOFT: 'red' });
    expect([status, JSON.parse(stdout)]).toEqual([1, []]);
    expect(stderr).toMatch(/no device nope/);
  });
});
