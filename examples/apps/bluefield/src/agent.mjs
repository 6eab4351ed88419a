// The DPU's side: a service of the Comm Channel, with a session for each host.
import { Endpoint, listDevices, listRepresentors, openDevice, openRepresentor } from '@verbs/doca-comm';
import { Folder } from './folder.mjs';
import { Session } from './session.mjs';

/**
 * @typedef {object} AgentOptions
 * @property {string} service
 * @property {string | undefined} device
 * @property {string | undefined} representor
 * @property {string} directory
 * @property {readonly string[]} allow
 * @property {(text: string) => void} note
 */

/** @param {AgentOptions} options */
export function startAgent({ service, device: wanted, representor, directory, allow, note }) {
  const info = wanted ?? listDevices().find(({ hasRepresentors }) => hasRepresentors);
  if (info === undefined) throw new Error('there is no device of a DPU here: name one by --device');
  const device = openDevice(info);
  const [first] = listRepresentors(device);
  const function_ = representor ?? first;
  if (function_ === undefined) throw new Error('the DPU shows no function of a host: look at its configuration');
  const deviceRep = openRepresentor(device, function_);
  const endpoint = new Endpoint({ device, deviceRep });
  endpoint.listen(service);
  const folder = new Folder(directory);
  let hosts = 0;
  endpoint.on('lost', (peer) => {
    if (peer.userData instanceof Session) peer.userData.close();
    note('a host is gone');
  });
  const serving = (async () => {
    for await (const { peer, data } of endpoint) {
      if (!(peer.userData instanceof Session)) {
        hosts += 1;
        note('a host is here');
        const send = (/** @type {Uint8Array} */ message) => endpoint.send(message, peer);
        peer.userData = new Session({ send, room: endpoint.maxMsgSize, folder, allowed: allow });
      }
      void (/** @type {Session} */ (peer.userData).receive(data));
    }
  })();
  return {
    device: device.info.pciAddr,
    serving,
    hosts: () => hosts,
    close: () => {
      endpoint.close();
      deviceRep.close();
      device.close();
    },
  };
}
