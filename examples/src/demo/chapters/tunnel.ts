import { dissect } from '@verbs/lib/packets';
import { TUNNEL_NAMES, type TunnelName, deliver } from '@verbs/lib/tunnel';
import type { Chapter } from '../chapter.js';

const TEXT = 'through a tunnel';

interface Passage {
  tunnel: TunnelName;
  arrived: boolean;
  /** The headers of the request on the wire, outermost first. */
  layers: { name: string; bytes: number }[];
}

/** An RDMA WRITE in a VXLAN and in a GRE tunnel, between two devices of the model of @verbs/hbl in this process. */
export const tunnel: Chapter = async ({ signal, say }) => {
  say('Sending through a VXLAN and a GRE tunnel, between two model devices of @verbs/hbl');
  const passages: Passage[] = [];
  for (const name of TUNNEL_NAMES) {
    signal.throwIfAborted();
    passages.push(await pass(name, signal));
  }
  return { document: { tunnels: passages }, text: report(passages) };
};

async function pass(name: TunnelName, signal: AbortSignal): Promise<Passage> {
  const { arrived, packets } = await deliver(name, TEXT, signal);
  const request = packets.find(({ direction }) => direction === 'sent');
  const layers = request === undefined ? [] : dissect(request.data, 'ip').layers;
  return {
    tunnel: name,
    arrived: arrived === TEXT,
    layers: layers.map((layer) => ({ name: layer.name, bytes: layer.bytes.length })),
  };
}

function report(passages: Passage[]): string {
  const lines = passages.map(({ tunnel, arrived, layers }) => {
    const headers = layers.map(({ name, bytes }) => `${name} ${bytes}`).join(' | ');
    return `  ${tunnel.padEnd(5)}  ${headers}  ${arrived ? 'arrived' : 'DAMAGED'}`;
  });
  return `
An RDMA WRITE through an encapsulation of @verbs/hbl: the packet that was captured, and the bytes of each part.
${lines.join('\n')}
"npx verbs encap demo" explains every field.
`;
}
