// Between two captures: every frame goes through the adapter once, on its way from the one to the other.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openDevice, parseHeaders } from '@verbs/mlx5';
import { CaptureWriter, readCapture } from './captures.mjs';
import { RawPort } from './raw-port.mjs';
import { decapsulating, encapsulating, everything } from './tunnel.mjs';

/** @import { Tunnel } from './tunnel.mjs' */

/** A frame that has not come back for so long is lost. Within a device it takes microseconds. */
const PATIENCE_MS = 10_000;

/**
 * @param {object} options
 * @param {'encap' | 'decap'} options.direction
 * @param {{ sender: string, receiver: string, port: number }} options.devices joined by a cable, or by a switch
 * @param {Tunnel} options.tunnel
 * @param {string} options.input
 * @param {string} options.output
 * @param {(frames: number) => void} options.onProgress
 */
export async function convert({ direction, devices, tunnel, input, output, onProgress }) {
  // All of it, before the output is opened: that may be the same file.
  const frames = [...readCapture(input)];
  const [sending, receiving] = [openDevice(devices.sender), openDevice(devices.receiver)];
  const writer = new CaptureWriter(output);
  const counts = { frames: 0, written: 0, outside: 0 };
  try {
    const [from, to] = [new RawPort(sending, devices.port), new RawPort(receiving, devices.port)];
    const flows =
      direction === 'encap'
        ? [encapsulating(sending, tunnel), everything(receiving, to.qp)]
        : [decapsulating(receiving, tunnel, to.qp)];
    for (const { nanoseconds, data } of frames) {
      counts.frames += 1;
      // The flows drop what is not of the tunnel: nobody would come back.
      if (direction === 'decap' && !isOfTunnel(data, tunnel.vni)) {
        counts.outside += 1;
        continue;
      }
      from.send(data);
      let arrived = 0;
      const since = performance.now();
      while (arrived === 0 || !from.idle) {
        arrived += to.take((frame) => {
          writer.add({ nanoseconds, data: frame.slice() });
        });
        if (performance.now() - since > PATIENCE_MS) {
          throw new Error(`frame ${counts.frames} of ${input} did not arrive at ${devices.receiver}`);
        }
        await nextTurn();
      }
      counts.written += arrived;
      onProgress(counts.frames);
    }
    for (const flow of flows) flow.close();
    return counts;
  } finally {
    writer.close();
    sending.close();
    receiving.close();
  }
}

/** @param {Uint8Array} frame @param {number} vni */
function isOfTunnel(frame, vni) {
  const header = parseHeaders(frame).layers.find(({ name }) => name === 'vxlan');
  return header?.name === 'vxlan' && header.fields.vni === vni;
}
