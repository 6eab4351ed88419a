import { resolve } from 'node:path';
import { type Client, connectTo, sendFile, serviceFor } from '@verbs/lib/comm';
import { ProgressBar } from '@verbs/lib/files';
import { Command } from 'commander';
import { talk } from '../comm/connect.js';
import { type ServedClient, type ServedFile, serve } from '../comm/serve.js';
import { lineOf } from '../comm/text.js';
import { trafficText } from '../comm/traffic.js';
import { note, print, printJson } from '../output.js';
import { plural } from '../text.js';
import { seconds, stopSignal } from './settings.js';

interface ServeOptions {
  device?: string;
  representor?: string;
  echo?: boolean;
  output?: string;
  json?: boolean;
}

interface ConnectOptions {
  device?: string;
  file?: string;
  wait: number;
  json?: boolean;
}

export function commCommand(): Command {
  return new Command('comm')
    .description('lines and files between a host and its DPU, over the DOCA Comm Channel')
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
    .action(async (name: string, options: ServeOptions) => {
      await server(name, options);
    });
}

function connectCommand(): Command {
  return new Command('connect')
    .description('a client on the host: sends the lines of standard input, or a file, and prints the received messages')
    .argument('<name>', "the service's name")
    .option('-d, --device <device>', "the host's device: its name or PCI address (default: the first)")
    .option('-f, --file <file>', 'send this file and compare its SHA-256 with the one that the service computes')
    .option(
      '-w, --wait <seconds>',
      'after the end of the input, continue until no message has come for this time',
      seconds,
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
    .action(async (name: string, options: ConnectOptions) => {
      await client(name, options);
    });
}

async function server(name: string, { device, representor, echo, output, json }: ServeOptions): Promise<void> {
  const signal = stopSignal();
  using service = serviceFor(name, device, representor);
  const show = json ? note : print;
  note(`serving ${name} on ${service.device} for ${service.representor}`);
  const directory = output === undefined ? undefined : resolve(output);
  const clients = await serve(
    service.endpoint,
    { echo: echo ?? false, directory, signal },
    {
      onClient: (number) => {
        note(`client ${number} is here`);
      },
      onLine: (number, message) => {
        show(`${number}: ${lineOf(message)}`);
      },
      onFile: (number, file) => {
        show(`${number}: ${fileText(file)}`);
      },
      onLost: (number) => {
        note(`client ${number} is gone`);
      },
      onTrouble: (text) => {
        note(`verbs comm: ${text}`);
      },
    },
  );
  const { device: deviceName, representor: representorAddress } = service;
  if (json) printJson({ service: name, device: deviceName, representor: representorAddress, clients });
  else print(summary(clients));
}

function fileText({ name, bytes = 0, sha256, error }: ServedFile): string {
  const what = `file ${JSON.stringify(name)}`;
  return sha256 === undefined
    ? `${what} rejected: ${error ?? ''}`
    : `${what}, ${plural(bytes, 'byte')}, SHA-256 ${sha256}`;
}

function summary(clients: ServedClient[]): string {
  const rows = clients.map(
    (each) => `client ${each.client}: ${trafficText(each)}, ${plural(each.files.length, 'file')}`,
  );
  return [plural(clients.length, 'client'), ...rows].join('\n');
}

async function client(name: string, options: ConnectOptions): Promise<void> {
  const signal = stopSignal();
  using connected = await connectTo(name, signal, options.device);
  if (options.file === undefined) await lines(name, connected, options, signal);
  else await file(name, connected, options.file, options, signal);
}

async function lines(name: string, connected: Client, options: ConnectOptions, signal: AbortSignal): Promise<void> {
  const { endpoint, device } = connected;
  const show = options.json ? note : print;
  const traffic = await talk(endpoint, { waitMs: options.wait * 1000, signal }, (message) => {
    show(lineOf(message));
  });
  if (options.json) printJson({ service: name, device, ...traffic });
  else note(trafficText(traffic));
}

async function file(
  name: string,
  { endpoint, device, peer }: Client,
  path: string,
  { json }: ConnectOptions,
  signal: AbortSignal,
): Promise<void> {
  const bar = new ProgressBar(name);
  const show = json ? note : print;
  const sent = await sendFile(endpoint, path, {
    signal,
    onProgress: (bytes, total) => {
      bar.update(bytes, total);
    },
    onMessage: (message) => {
      show(lineOf(message));
    },
  });
  const { sendMessages, sendBytes, recvMessages, recvBytes } = peer.stats();
  const traffic = {
    sentMessages: Number(sendMessages),
    sentBytes: Number(sendBytes),
    receivedMessages: Number(recvMessages),
    receivedBytes: Number(recvBytes),
  };
  if (json) printJson({ service: name, device, ...traffic, file: { path, ...sent } });
  else
    print(
      `${plural(sent.bytes, 'byte')} in ${sent.seconds.toFixed(3)} s, SHA-256 ${sent.sha256}, the same at the service`,
    );
}
