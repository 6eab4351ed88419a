import { openDevice } from '@verbs/core';
import type { Request } from '@verbs/core/rendezvous';
import { Command } from 'commander';
import { Failure, messageOf } from '@verbs/lib/failure';
import { note, print, printJson } from '../output.js';
import { type PingOptions, ping } from '../ping/client.js';
import { MAX_SIZE } from '../ping/protocol.js';
import { serve } from '../ping/server.js';
import type { Summary } from '../ping/statistics.js';
import { hex, plural } from '../text.js';
import { DEFAULT_PORT, serversPort, waitAt } from './listening.js';
import { integer, refuseOptions, seconds, stopSignal } from './settings.js';

interface Options {
  server?: boolean;
  once?: boolean;
  bind: string;
  port: number;
  device?: string;
  count?: number;
  size: number;
  interval: number;
  timeout: number;
  read?: boolean;
  json?: boolean;
}

export function pingCommand(): Command {
  return new Command('ping')
    .description('round trips over RDMA between two processes: "verbs ping -s" is the server, "verbs ping" the client')
    .argument('[address]', 'where the server is', '127.0.0.1')
    .option('-s, --server', 'reply to pings until stopped')
    .option('--once', 'with -s: end with the first client')
    .option('--bind <address>', 'with -s: the TCP address to wait on', '127.0.0.1')
    .option(
      '-p, --port <port>',
      'the TCP port of the first contact; 0 with -s: any free one',
      integer(0, 65535),
      DEFAULT_PORT,
    )
    .option('-d, --device <device>', 'the RDMA device (default: the first hardware device, else the software NIC)')
    .option('-c, --count <number>', 'end after this number of pings', integer(1, Number.MAX_SAFE_INTEGER))
    .option('-S, --size <bytes>', 'bytes of data', integer(0, MAX_SIZE), 64)
    .option('-i, --interval <seconds>', 'from a reply to the next ping; 0: none', seconds(0), 1)
    .option('-t, --timeout <seconds>', 'how long to wait for a reply', seconds(0.001), 5)
    .option('--read', "ping by RDMA READ, without the peer's program (default: SEND and a reply)")
    .option('--json', 'print one JSON document at the end')
    .addHelpText(
      'after',
      `
Examples:
  verbs ping -s               in one shell
  verbs ping -c 5             in another: five round trips
  verbs ping -c 1000 -i 0 --json

The two find each other over TCP, as programs with @verbs/core/rendezvous do; the pings are SENDs over RC. Ctrl-C prints the summary. If a reply does not come, the error follows it, and the exit code is 1.`,
    )
    .action(async (address: string, options: Options, command: Command) => {
      if (options.server) {
        refuseOptions(command, CLIENTS_OWN, 'the client');
        if (command.args.length > 0) {
          throw new Failure(`${address}: the server goes to no address`, {
            hint: `--bind ${address} lets it wait there`,
            exitCode: 2,
          });
        }
        await server(options, stopSignal());
      } else {
        refuseOptions(command, SERVERS_OWN, 'the server (-s)');
        await client(address, options, stopSignal());
      }
    });
}

const CLIENTS_OWN = ['count', 'size', 'interval', 'timeout', 'read'];
const SERVERS_OWN = ['once', 'bind'];

async function client(address: string, options: Options, stop: AbortSignal): Promise<void> {
  using context = openDevice(options.device);
  const operation = options.read ? 'read' : 'send';
  const settings: PingOptions = {
    host: address,
    port: serversPort(options.port),
    operation,
    size: options.size,
    count: options.count,
    intervalMs: options.interval * 1000,
    timeoutMs: options.timeout * 1000,
    signal: stop,
  };
  const replies: { seq: number; usec: number }[] = [];
  let peer = { gid: '', qpNum: 0 };
  await ping(context, settings, {
    onPeer: (gid, qpNum) => {
      peer = { gid, qpNum };
      if (!options.json)
        print(
          `PING ${gid} QPN ${hex(qpNum)} from ${context.device.name}: ${plural(options.size, 'byte')}, RC ${operation.toUpperCase()}`,
        );
    },
    onReply: (seq, usec) => {
      if (options.json) replies.push({ seq, usec });
      else print(`${plural(options.size, 'byte')} from ${peer.gid}: seq=${seq} time=${usec.toFixed(1)} usec`);
    },
    onEnd: (summary) => {
      const { name: device } = context.device;
      if (options.json) printJson({ device, ...peer, operation, bytes: options.size, ...rounded(summary), replies });
      else print(summaryText(address, summary));
      if (summary.received === 0) process.exitCode = 1;
    },
  });
}

async function server(options: Options, stop: AbortSignal): Promise<void> {
  using context = openDevice(options.device);
  using pd = context.allocPd();
  const listener = await waitAt(options, pd);
  const totals = { clients: 0, answered: 0 };
  const over = new AbortController();
  const signal = AbortSignal.any([stop, over.signal]);
  const sessions = new Set<Promise<void>>();
  const session = async (request: Request): Promise<void> => {
    totals.clients += 1;
    try {
      const answered = await serve(context, request, signal);
      totals.answered += answered;
    } catch (error) {
      if (!signal.aborted) note(`verbs ping: ${messageOf(error)}`);
    } finally {
      if (options.once) over.abort();
    }
  };
  note(`waiting for pings on ${options.bind} port ${listener.port}, device ${context.device.name}`);
  const close = () => {
    listener.close();
  };
  if (signal.aborted) close();
  signal.addEventListener('abort', close, { once: true });
  for await (const request of listener) {
    const running = session(request).finally(() => sessions.delete(running));
    sessions.add(running);
  }
  await Promise.all(sessions);
  if (options.json) printJson(totals);
  else print(`${plural(totals.clients, 'client')}, ${plural(totals.answered, 'ping')} answered`);
}

function summaryText(address: string, { sent, received, min, avg, max, stddev }: Summary): string {
  const counts = `\n--- ${address} verbs ping statistics ---\n${plural(sent, 'ping')}, ${received} answered`;
  if (received === 0) return counts;
  return `${counts}\nrtt min/avg/max/stddev = ${[min, avg, max, stddev].map((usec) => usec.toFixed(1)).join('/')} usec`;
}

function rounded({ sent, received, ...times }: Summary): Record<string, number> {
  const usec = Object.entries(times).map(([name, value]) => [`${name}Usec`, Math.round(value * 1000) / 1000]);
  return { sent, received, ...(Object.fromEntries(usec) as Record<string, number>) };
}
