import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { deliveryJson, deliveryText, explained } from '../encap/demo.js';
import { portTable, reportPorts } from '../encap/show.js';
import { print, printJson } from '../output.js';
import { refuseOptions } from './settings.js';
import { loadVendor } from './vendor.js';

const TUNNELS = ['vxlan', 'gre'] as const;
const TEXT = 'through a tunnel';

interface Options {
  device?: string;
  port?: number;
  tunnel?: (typeof TUNNELS)[number];
  json?: boolean;
}

export function encapCommand(): Command {
  return new Command('encap')
    .description(
      "show the ports' encapsulations and user FIFOs, or send through an encapsulation (Gaudi, or its model)",
    )
    .addArgument(new Argument('[what]', 'what to do').choices(['show', 'demo']).default('show'))
    .option('-d, --device <device>', 'show: this device only (default: all)')
    .option('-i, --port <port>', 'show: this port only (default: all)', portNumber)
    .addOption(new Option('-t, --tunnel <tunnel>', 'demo: this tunnel only (default: both)').choices(TUNNELS))
    .option('--json', 'print a JSON array')
    .addHelpText(
      'after',
      `
Examples:
  verbs encap
  verbs encap demo --tunnel vxlan

"show" finds out what is free by taking it, and gives it back at once. "demo" sends an RDMA WRITE between two devices
of the model, in this process, and explains the packet that was captured, field by field.`,
    )
    .action(async (what: 'show' | 'demo', options: Options, command: Command) => {
      if (what === 'show') {
        refuseOptions(command, ['tunnel'], 'demo');
        await show(options);
      } else {
        refuseOptions(command, ['device', 'port'], 'show');
        await demo(options);
      }
    });
}

async function show({ device, port, json }: Options): Promise<void> {
  const hbl = await loadVendor('@verbs/hbl', () => import('@verbs/hbl'));
  const reports = reportPorts(hbl, { device, portNum: port });
  if (json) printJson(reports);
  else print(portTable(reports));
}

async function demo({ tunnel, json }: Options): Promise<void> {
  const { deliver } = await loadVendor('@verbs/hbl', () => import('@verbs/lib/tunnel'));
  const controller = new AbortController();
  const deliveries = [];
  for (const each of tunnel === undefined ? TUNNELS : [tunnel]) {
    deliveries.push(explained(await deliver(each, TEXT, controller.signal)));
  }
  if (json) printJson(deliveries.map(deliveryJson));
  else print(deliveries.map(deliveryText).join('\n\n'));
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 255) throw new InvalidArgumentError('ports count from 1.');
  return port;
}
