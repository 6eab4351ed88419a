import { describe, expect, it } from 'vitest';
import { verbs } from './verbs.js';

/** The GUIDs are new in each process, all else must be the same. */
function withoutGuids(text: string): string[] {
  return text.replace(/^(\t(?:node|sys_image)_guid:\t+)[0-9a-f:]{19}$/gm, '$1GUID').split('\n');
}

describe('verbs devinfo', () => {
  it.each([
    ['soft0,addr=127.77.1.1', ['-v']],
    ['soft0,addr=127.77.1.1,mtu=1024', ['-v']],
    ['soft0,addr=127.77.1.1', []],
    ['soft0,addr=127.77.1.1', ['-v', '-i', '1']],
    ['red,addr=127.77.1.1;blue,addr=127.77.1.2', ['-v', '-d', 'blue']],
    ['red,addr=127.77.1.1;blue,addr=127.77.1.2', ['-v']],
    ['red;blue', ['-l']],
    ['red', ['-l']],
  ])('%s: prints what ibv_devinfo %j prints', async (configuration, args) => {
    const env = { VERBS_SOFT: configuration };
    const theirs = await verbs(['run', '--', 'ibv_devinfo', ...args], env);
    const ours = await verbs(['devinfo', ...args], env);
    expect(theirs.stderr).toBe('');
    expect(theirs.status).toBe(0);
    expect(theirs.stdout.length).toBeGreaterThan(10);
    expect(withoutGuids(ours.stdout)).toEqual(withoutGuids(theirs.stdout));
    expect(ours.status).toBe(0);
  });

  it('prints all of it as JSON', async () => {
    const { stdout } = await verbs(['devinfo', '--json'], { VERBS_SOFT: 'soft0,addr=127.77.1.1' });
    expect(JSON.parse(stdout)).toMatchObject([
      {
        name: 'soft0',
        library: 'soft',
        nodeGuid: expect.stringMatching(/^[0-9a-f]{4}(:[0-9a-f]{4}){3}$/) as string,
        ports: [{ portNum: 1, gids: [{ index: 0, gid: '::ffff:127.77.1.1', type: 'RoCE v2' }] }],
      },
    ]);
  });

  it.each([
    [['-d', 'nonsense'], /no device nonsense\n.*soft0/],
    [['-i', '7'], /soft0 has no port 7/],
  ])('%j fails with a reason', async (args, message) => {
    const { status, stderr } = await verbs(['devinfo', ...args], { VERBS_SOFT: 'soft0,addr=127.77.1.1' });
    expect(stderr).toMatch(message);
    expect(status).toBe(1);
  });

  it('fails if the address of a device is not one of this machine, and prints the others', async () => {
    const env = { VERBS_SOFT: 'away,addr=192.0.2.1;here,addr=127.77.1.3' };
    const { status, stdout, stderr } = await verbs(['devinfo', '--json'], env);
    expect(stderr).toContain('192.0.2.1');
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'here' }]);
    expect(status).toBe(1);
  });

  it('says why its list is empty', async () => {
    const { status, stdout, stderr } = await verbs(['devinfo', '-l'], { VERBS_SOFT: 'soft0,bogus=1' });
    expect([status, stdout]).toEqual([1, '0 HCAs found:\n\n']);
    expect(stderr).toMatch(/no RDMA device found: .*bogus/);
  });
});
