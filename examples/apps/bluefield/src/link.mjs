// The host's connection to the agent on its DPU. A lost one is replaced, as long as the patience lasts.
import { setTimeout as sleep } from 'node:timers/promises';
import { DocaError, Endpoint, listDevices, openDevice } from '@verbs/doca-comm';
import { control, parse } from './messages.mjs';

/** @import { Device } from '@verbs/doca-comm' */

/** The ends of a connection that another one may follow; an agent that is not there yet is one of them. */
const LOST = [
  'AGAIN',
  'CONNECTION_ABORTED',
  'CONNECTION_INPROGRESS',
  'CONNECTION_RESET',
  'NOT_CONNECTED',
  'NOT_FOUND',
  'SHUTDOWN',
  'TIME_OUT',
].map((name) => `DOCA_ERROR_${name}`);

/** @param {unknown} error */
const isLost = (error) => error instanceof DocaError && LOST.includes(error.code);

/** A connection. */
export class Link {
  #endpoint;

  /** @param {Endpoint} endpoint */
  constructor(endpoint) {
    this.#endpoint = endpoint;
  }

  /** Bytes of a message. */
  get room() {
    return this.#endpoint.maxMsgSize;
  }

  /** @param {Uint8Array} message */
  send(message) {
    return this.#endpoint.send(message);
  }

  /** @param {Record<string, unknown>} value */
  request(value) {
    return this.send(control(value));
  }

  /** The next message. A failure that the agent reports is thrown. */
  async next() {
    return checked((await this.#endpoint.receive()).data);
  }

  /** The same if there is one. */
  poll() {
    const received = this.#endpoint.recvFrom();
    return received === undefined ? undefined : checked(received.data);
  }
}

/** @param {Uint8Array} data */
function checked(data) {
  const message = parse(data);
  if (message.type === 'J' && typeof message.value['error'] === 'string') {
    throw new Error(`the agent says: ${message.value['error']}`);
  }
  return message;
}

/**
 * Does something over a connection; over another one if it is lost. `body` begins anew then, and knows what was done.
 * @template T
 * @param {object} options
 * @param {string} options.service
 * @param {string | undefined} options.device
 * @param {number} options.patience seconds without a connection
 * @param {boolean} options.repeat whether a request that was made may be made again
 * @param {(text: string) => void} options.note
 * @param {(link: Link) => Promise<T>} body
 * @returns {Promise<T>}
 */
export async function withLink({ service, device: wanted, patience, repeat, note }, body) {
  const info = wanted ?? listDevices().find(({ hasRepresentors }) => !hasRepresentors);
  if (info === undefined) throw new Error('there is no device of a host here: name one by --device');
  const device = openDevice(info);
  try {
    for (;;) {
      const endpoint = await connected(device, service, patience, note);
      try {
        return await body(new Link(endpoint));
      } catch (error) {
        if (!isLost(error)) throw error;
        if (!repeat)
          throw new Error('the connection was lost, and the command may have done its work or not', { cause: error });
        note('the connection is lost: connecting again');
      } finally {
        await endpoint.closeAsync();
      }
    }
  } finally {
    device.close();
  }
}

/**
 * @param {Device} device
 * @param {string} service
 * @param {number} patience
 * @param {(text: string) => void} note
 */
async function connected(device, service, patience, note) {
  let noted = false;
  const since = performance.now();
  for (;;) {
    const endpoint = new Endpoint({ device });
    try {
      const peer = await endpoint.connectAsync(service);
      await peer.established();
      return endpoint;
    } catch (error) {
      await endpoint.closeAsync();
      if (!isLost(error)) throw error;
      if (performance.now() - since > patience * 1000) {
        throw new Error(
          `no agent serves ${JSON.stringify(service)} (${/** @type {DocaError} */ (error).code}): start one on the DPU with "bluefield agent"`,
          { cause: error },
        );
      }
      if (!noted) note(`waiting for the agent of ${service}`);
      noted = true;
    }
    await sleep(100);
  }
}
