// Between two devices: what arrives on the plain one leaves the other one in the tunnel, and the reverse.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openDevice } from '@verbs/mlx5';
import { RawPort } from './raw-port.mjs';
import { decapsulating, encapsulating, everything } from './tunnel.mjs';

/** @import { Tunnel } from './tunnel.mjs' */

/** @typedef {{ encapsulated: number, decapsulated: number, dropped: number }} Counts */

/**
 * Forwards until the signal.
 * @param {{ plain: string, outer: string, port: number, tunnel: Tunnel, signal: AbortSignal, onReady: () => void }} options
 * @returns {Promise<Counts>}
 */
export async function forward({ plain, outer, port, tunnel, signal, onReady }) {
  const [inside, outside] = [openDevice(plain), openDevice(outer)];
  try {
    const [near, far] = [new RawPort(inside, port), new RawPort(outside, port)];
    const flows = [everything(inside, near.qp), encapsulating(outside, tunnel), decapsulating(outside, tunnel, far.qp)];
    const counts = { encapsulated: 0, decapsulated: 0, dropped: 0 };
    onReady();
    const pass = (/** @type {RawPort} */ from, /** @type {RawPort} */ to, /** @type {keyof Counts} */ kind) =>
      from.take((frame) => {
        // As any Ethernet bridge, it drops what it cannot send at once.
        counts[to.send(frame) ? kind : 'dropped'] += 1;
      });
    while (!signal.aborted) {
      const moved = pass(near, far, 'encapsulated') + pass(far, near, 'decapsulated');
      if (moved > 0) await nextTurn();
      else await arrivalOf([near, far], signal);
    }
    for (const flow of flows) flow.close();
    return counts;
  } finally {
    inside.close();
    outside.close();
  }
}

/** Waits for a frame on one of the ports, or for the signal. @param {RawPort[]} ports @param {AbortSignal} signal */
async function arrivalOf(ports, signal) {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const waiting = ports.map((port) => port.arrival(either));
  try {
    await Promise.race(waiting);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    over.abort();
    await Promise.allSettled(waiting);
  }
}
