import { Command, Option } from 'commander';
import type { ClientOptions } from '../comm/client.js';
import type { ServiceOptions } from '../comm/service.js';
import { seconds, stopSignal } from './settings.js';
import { loadVendor } from './vendor.js';

const api = () =>
  new Option('-a, --api <api>', 'the API of DOCA (default: the newer one that is here)').choices([
    'comch',
    'comm-channel',
  ]);
const load = <T>(module: () => Promise<T>) => loadVendor('@verbs/doca-comm', module);

export function commCommand(): Command {
  return new Command('comm')
    .description('lines and files between a host and its DPU, over DOCA Comch or the DOCA Comm Channel')
    .addCommand(serveCommand())
    .addCommand(connectCommand())
    .addHelpText(
      'after',
      `
Examples:
  verbs comm serve log --echo                  on the DPU
  echo hello | verbs comm connect log --wait 1   on the host
  verbs comm connect log --file image.bin      a file, with its checksum compared

Without a DPU both run on the software BlueField, on one machine or two.`,
    );
}

function serveCommand(): Command {
  return new Command('serve')
    .description('a service on the DPU: prints the lines of its clients and receives their files, until stopped')
    .argument('<name>', "the service's name")
    .option('-d, --device <device>', "the DPU's device: its name or PCI address (default: the first)")
    .option('-r, --representor <address>', "the host's function: its PCI address there (default: the first)")
    .addOption(api())
    .option('-e, --echo', 'send each line back')
    .option(
      '-o, --output <directory>',
      'store the files there; existing ones stay (default: compute the checksum only)',
    )
    .option('--json', 'print one JSON document at the end; lines go to standard error')
    .addHelpText(
      'after',
      `
Examples:
  verbs comm serve log
  verbs comm serve inbox -o /var/tmp/inbox --json

A line of standard input goes to every client. Ctrl-C ends the service and prints a summary.`,
    )
    .action(async (name: string, options: ServiceOptions) => {
      const { service } = await load(() => import('../comm/service.js'));
      await service(name, options, stopSignal());
    });
}

function connectCommand(): Command {
  return new Command('connect')
    .description('a client on the host: sends the lines of standard input, or a file, and prints the received messages')
    .argument('<name>', "the service's name")
    .option('-d, --device <device>', "the host's device: its name or PCI address (default: the first)")
    .addOption(api())
    .option('-f, --file <file>', 'send this file and compare its SHA-256 with the one that the service computes')
    .option(
      '-w, --wait <seconds>',
      'after the end of the input, continue until no message has come for this time',
      seconds(0),
      0,
    )
    .option('--json', 'print one JSON document at the end; lines go to standard error')
    .addHelpText(
      'after',
      `
Examples:
  tail -f messages | verbs comm connect log
  verbs comm connect inbox --file image.bin --json

The end of the input, or Ctrl-C, ends the connection when the service has everything.`,
    )
    .action(async (name: string, options: ClientOptions) => {
      const { client } = await load(() => import('../comm/client.js'));
      await client(name, options, stopSignal());
    });
}
