import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { DocaError, PeerAddr } from '../dist/index.js';
import { client, echo, serve } from './helpers/devices.js';

const shown = (value: unknown) => inspect(value, { breakLength: Infinity, compact: 10 });

it('objects and errors show what they are', async () => {
  const [service, end] = [serve('inspected'), client()];
  expect(shown(service)).toBe("Endpoint { role: 'service', device: 'doca_dpu0', deviceRep: '5f5f:3b:00.0', peers: 0 }");
  expect(shown(end)).toMatch(/^Endpoint \{ role: 'none', device: 'doca_host0', peers: 0 \}$/);
  expect(shown(service.device)).toMatch(/^Device \{ library: 'soft', pciAddr: '[0-9a-f:.]+', ibdevName: /);
  expect(shown(service.deviceRep)).toMatch(/^Representor \{ .*'5f5f:3b:00\.0'/);
  void echo(service).catch(() => undefined);
  const peer = end.connect('inspected');
  await end.send(Uint8Array.of(1), peer);
  expect(shown(peer)).toMatch(/^PeerAddr \{ number: \d+, connected: true \}$/);
  expect(inspect({ object: peer }, { depth: 0 })).toMatch(/\[PeerAddr \d+\]/);
  end.disconnect(peer);
  expect(shown(peer)).toContain('connected: false');
  end.close();
  expect(shown(end)).toContain("role: 'closed'");
  expect(shown(new Proxy(peer, {}))).toBeTypeOf('string');
  expect(shown(Object.create(PeerAddr.prototype))).toBeTypeOf('string');
  let error: unknown;
  try {
    end.listen('late');
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(DocaError);
  for (const part of ['DocaError: DOCA_ERROR_', "code: 'DOCA_ERROR_", 'status: ', "syscall: 'doca_com"]) {
    expect(shown(error)).toContain(part);
  }
});
