import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { Endpoint, openDevice, openRepresentor } from '@verbs/doca-comm';
import { Latencies } from '../latencies.mjs';
import { Pattern } from '../pattern.mjs';
import { Tally } from '../tally.mjs';

const LONGEST = 4080;
const REPRESENTOR = '5f5f:3b:00.0';

/** The Comm Channel: side 1 is the service on the DPU, side 0 the client on the host. */
export function openSide({ device: name, me, seed }) {
  const device = openDevice(name);
  const pattern = new Pattern(seed);
  const deviceRep = me === 1 ? openRepresentor(device, REPRESENTOR) : undefined;
  return {
    make: () => makeChannel({ device, deviceRep, me, pattern }),
    close() {
      deviceRep?.close();
      device.close();
    },
  };
}

let services = 0;

function makeChannel({ device, deviceRep, me, pattern }) {
  const service = `chaos-${process.pid}-${services++}`;
  const endpoint = new Endpoint({ device, ...(deviceRep === undefined ? {} : { deviceRep }) });
  const [tally, latencies] = [new Tally(), new Latencies()];
  const over = new AbortController();
  let stopped = true;
  let sending = Promise.resolve();
  let peer;
  let [sent, expected] = [0, 0];
  if (me === 1) endpoint.listen(service);

  function verify({ data, peer: from }) {
    peer ??= from;
    const message = pattern.message(1 - me, expected, LONGEST);
    const same = Buffer.compare(data, message) === 0;
    if (same) tally.verified(data.length);
    else tally.wrong(`message ${expected} of ${message.length} bytes is wrong: ${data.length} bytes`);
    expected++;
  }

  function failed(error) {
    if (over.signal.aborted) return;
    if (typeof error.code === 'string') tally.error(error.code);
    else tally.wrong(String(error));
  }

  async function receiveAll() {
    while (!over.signal.aborted && !tally.failed) verify(await endpoint.receive({ signal: over.signal }));
  }

  async function sendAll(limit) {
    // A service knows its client by the first message.
    while (peer === undefined && !over.signal.aborted) await setTimeout(2);
    while (!stopped && !tally.failed && sent < limit) {
      const message = pattern.message(me, sent, LONGEST);
      const begin = performance.now();
      await endpoint.send(message, peer, { signal: over.signal });
      latencies.add(performance.now() - begin);
      sent++;
      if (sent % 32 === 0) await setTimeout(1);
    }
    await endpoint.drained(peer, { signal: over.signal });
  }

  return {
    endpoint: { service },
    async connect(other) {
      // A service accepts its clients as it receives.
      if (me === 1) receiveAll().catch(failed);
      else {
        peer = await endpoint.connectAsync(other.service);
        await peer.established({ signal: AbortSignal.timeout(10_000) });
      }
      return {};
    },
    start(_, limit = Infinity) {
      stopped = false;
      if (me === 0) receiveAll().catch(failed);
      sending = sendAll(limit).catch(failed);
    },
    async stop() {
      stopped = true;
      await sending;
    },
    report: () => ({ ...tally.report(), messages: expected, sent, pending: 0, latency: latencies.take() }),
    async close() {
      over.abort();
      await endpoint.closeAsync();
    },
  };
}
