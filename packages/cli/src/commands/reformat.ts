import { Command, Option } from 'commander';
import { Failure } from '@verbs/lib/failure';
import { printJson, print } from '../output.js';
import { convert } from '../reformat/convert.js';
import { summaryJson, summaryText } from '../reformat/summary.js';
import { loadVendor } from './vendor.js';

interface Options {
  encap?: string;
  decap?: string;
  json?: boolean;
}

export function reformatCommand(): Command {
  return new Command('reformat')
    .description('put the frames of a capture into a tunnel or take them out, by packet reformat actions of mlx5')
    .argument('<in>', 'a pcap or pcapng file of Ethernet frames')
    .argument('<out>', 'the file to write: pcap or pcapng by its ending, else as <in>')
    .addOption(new Option('--encap <tunnel>', 'put every frame into this tunnel').conflicts('decap'))
    .option('--decap <tunnel>', 'take the frames out of this tunnel, and drop all others')
    .option('--json', 'print the summary as JSON')
    .addHelpText(
      'after',
      `
Tunnels, with their required and optional parameters:
  vxlan,vni=NUMBER          geneve,vni=NUMBER[,l3]     gre[,key=NUMBER][,l3]
  nvgre,vsid=NUMBER         mplsoudp,label=NUMBER      gtpu,teid=NUMBER
With --encap also src=ADDRESS,dst=ADDRESS[,dmac=MAC][,smac=MAC] [,vlan=VID][,ttl=NUMBER][,tos=NUMBER]; both addresses
may be IPv6. The outer MAC addresses are those of the frame unless they are given.
With --decap the numbers may be left out. Tunnels of IP packets (l3, mplsoudp, gtpu) need dmac=MAC,smac=MAC[,vlan=VID]:
the Ethernet header that the packets get.

Examples:
  verbs reformat --encap vxlan,vni=42,src=10.1.0.1,dst=10.1.0.2 plain.pcap tunnel.pcap
  verbs reformat --decap vxlan tunnel.pcap plain-again.pcap
  verbs reformat --decap gre,l3,dmac=02:00:00:00:00:02,smac=02:00:00:00:00:01 gre.pcapng out.pcapng

Each frame is sent and received by queue pairs of two software NICs, whose flows reformat it as mlx5 hardware does:
lengths, IPv4 checksum and UDP source port (by the flow inside) of the outer headers are filled in.`,
    )
    .action(async (input: string, output: string, options: Options) => {
      const text = options.encap ?? options.decap;
      if (text === undefined) {
        throw new Failure('either --encap or --decap is needed', { hint: 'verbs reformat --help', exitCode: 2 });
      }
      const direction = options.encap === undefined ? 'decap' : 'encap';
      const module = await loadVendor('@verbs/mlx5', () => import('@verbs/lib/reformat'));
      const result = await convert(module, { direction, text, input, output });
      if (options.json) printJson(summaryJson(result));
      else print(summaryText(result));
    });
}
