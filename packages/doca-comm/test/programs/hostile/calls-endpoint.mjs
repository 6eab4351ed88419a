// Good arguments for the calls of endpoints, which go over either API, and of their peers.
import { message, sizes, waiting } from './calls-comch.mjs';

const SIZES = ['maxMsgSize', 'sendQueueSize', 'recvQueueSize'];
const peer = (w) => w.object('PeerAddr');
const size = (w) => [w.random.pick([1, 64, 100, 4080, 2 ** 31 - 1])];

export const endpointCalls = {
  'new Endpoint': (w) => [
    { ...(w.random.oneIn(2) ? w.onDpu() : w.onHost()), ...sizes(w, SIZES), ...w.random.pick([{}, { spin: 0 }]) },
  ],
  'Endpoint.device=': (w) => [w.object('Device')],
  'Endpoint.deviceRep=': (w) => [w.object('Representor')],
  'Endpoint.maxMsgSize=': size,
  'Endpoint.sendQueueSize=': size,
  'Endpoint.recvQueueSize=': size,
  'Endpoint.listen': (w) => [w.newService()],
  'Endpoint.connect': (w) => [w.service()],
  'Endpoint.connectAsync': (w) => [w.service(), ...waiting(w)],
  'Endpoint.sendTo': (w) => [message(w), peer(w)],
  'Endpoint.recvFrom': (w) => w.random.pick([[], [new Uint8Array(4080)], [new Uint8Array(1)]]),
  'Endpoint.disconnect': (w) => [peer(w)],
  'Endpoint.disconnectAsync': (w) => [peer(w)],
  'Endpoint.update': () => [],
  'Endpoint.send': (w) => [message(w), ...w.random.pick([[], [peer(w), ...waiting(w)]])],
  'Endpoint.receive': waiting,
  'Endpoint.[Symbol.asyncIterator]': () => [],
  'Endpoint.drained': (w) => w.random.pick([[], [peer(w), ...waiting(w)]]),

  'PeerAddr.userData64=': (w) => [w.random.pick([0n, 7n, 2n ** 64n - 1n])],
  'PeerAddr.updateInfo': () => [],
  'PeerAddr.counters': () => [],
  'PeerAddr.stats': () => [],
  'PeerAddr.established': waiting,
};
