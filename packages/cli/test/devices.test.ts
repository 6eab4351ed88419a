import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { VERBS, verbs } from './verbs.js';

interface Device {
  name: string;
  guid: string;
  library: string;
}

describe('verbs devices', () => {
  it('lists the default device of the software NIC', async () => {
    const { status, stdout } = await verbs(['devices'], { VERBS_SOFT: '' });
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ {4}device {10}\t {3}node GUID\tlibrary\n {4}-{6} {10}\t-{16}\t-{7}\n/);
    expect(stdout).toMatch(/^ {4}soft0 {11}\t[0-9a-f]{16}\tsoft$/m);
  });

  it('prints JSON and nothing else', async () => {
    const { stdout } = await verbs(['devices', '--json'], { VERBS_SOFT: 'red;green' });
    const devices = JSON.parse(stdout) as Device[];
    const soft = devices.filter(({ library }) => library === 'soft');
    expect(soft.map(({ name }) => name)).toEqual(['red', 'green']);
    for (const { guid } of soft) expect(guid).toMatch(/^[0-9a-f]{16}$/);
    expect(new Set(soft.map(({ guid }) => guid)).size).toBe(2);
  });

  it('says what is wrong with the configuration', async () => {
    const { status, stdout, stderr } = await verbs(['devices', '--json'], { VERBS_SOFT: 'soft0,mtu=9999' });
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toEqual([]);
    expect(stderr).toMatch(/soft0.*mtu.*9999/);
    expect(stderr).toContain('verbs doctor');
  });

  it('says which device of the configuration is left out, and why', async () => {
    const env = { VERBS_SOFT: 'red;strange0,kind=strange;gone0,kind=gone,model=/no/such/library.so' };
    const { status, stdout } = await verbs(['devices'], env);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ {4}red /m);
    expect(stdout).toMatch(/^strange0 is left out: no model of kind strange is loaded; load the package/m);
    expect(stdout).toMatch(/^gone0 is left out: .*\/no\/such\/library\.so/m);
    const { stdout: json } = await verbs(['devices', '--json'], env);
    expect(JSON.parse(json)).toMatchObject([
      { name: 'red', library: 'soft' },
      { name: 'strange0', leftOut: expect.stringMatching(/^no model of kind strange is loaded;/) as unknown },
      { name: 'gone0', leftOut: expect.stringContaining('/no/such/library.so') as unknown },
    ]);
    const { stdout: advice } = await verbs(['doctor'], env);
    expect(advice.replace(/\s+/g, ' ')).toContain('strange0 is left out: no model of kind strange is loaded');
  });

  it('takes a reader that goes away calmly', async () => {
    const child = spawn(process.execPath, [VERBS, 'devices'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    let stderr = '';
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
    await once(child, 'close');
    expect(stderr).toBe('');
    expect(child.exitCode).toBe(0);
  });
});
