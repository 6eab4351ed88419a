// The model's default device has the name of a real one. Where the kernel has a device of that name, which no library here
// drives, a program that opens it must not get the model.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('programs/real-name.mjs', import.meta.url));

interface Answer {
  devices: string[];
  reason?: string;
  named?: string;
  byCore?: string;
}

/** Runs a command where the kernel seems to have hbl_0: in a mount namespace with another /sys/class. */
function withDevice(command: string[], soft = '') {
  const script = 'mount -t tmpfs none /sys/class && mkdir -p /sys/class/infiniband/hbl_0 && exec "$@"';
  const env = { ...process.env };
  delete env['VERBS_SOFT'];
  delete env['RDMA_CORE_LIB'];
  return spawnSync('unshare', ['--mount', '--map-root-user', 'sh', '-c', script, 'sh', ...command], {
    encoding: 'utf8',
    env: soft === '' ? env : { ...env, VERBS_SOFT: soft },
  });
}

const tried = withDevice(['test', '-d', '/sys/class/infiniband/hbl_0']);
const reason = tried.status === 0 ? undefined : (tried.error?.message ?? tried.stderr.trim());

describe.skipIf(reason !== undefined)(`a real hbl_0${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  const answer = (soft?: string) => {
    const { stdout, stderr } = withDevice([process.execPath, PROGRAM], soft);
    expect(stderr).toBe('');
    return JSON.parse(stdout) as Answer;
  };

  it('is not replaced by the model, and the error says so', () => {
    const { devices, reason, named, byCore } = answer();
    expect(devices).toEqual([]);
    const why = /the kernel has a device hbl_0; for a model name it: VERBS_SOFT='hbl_0,kind=hbl'/;
    expect(reason).toMatch(why);
    expect(reason).toMatch(/system: .*libhbl\.so/);
    expect(named).toMatch(why);
    expect(byCore).toMatch(/ENODEV.*the kernel has it, but no libibverbs here lists it/);
  });

  it('is the model where the program names that', () => {
    const { devices, named, byCore } = answer('hbl_0,kind=hbl');
    expect(devices).toEqual(['soft hbl_0']);
    expect([named, byCore]).toEqual([undefined, undefined]);
  });
});
