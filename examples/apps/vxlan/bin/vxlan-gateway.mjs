#!/usr/bin/env node
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { addDevices } from '@verbs/soft';
import { convert } from '../src/convert.mjs';
import { forward } from '../src/gateway.mjs';

/** @typedef {import('../src/tunnel.mjs').Tunnel & { port: number, json?: boolean }} Options */

/** Two ports of the software NIC, joined by a switch that learns no addresses of a capture. */
const SOFT = ['vxlan0', 'vxlan1'];
const SWITCH = 'kind=mlx5,mtu=4096,switch=vxlan,learning=0,mtu_check=0';

const number = (/** @type {string} */ text) => {
  if (!/^\d+$/.test(text) || Number(text) > 0xffffff) throw new InvalidArgumentError('a number from 0 to 16777215');
  return Number(text);
};

/** @param {Command} command */
const ofTunnel = (command) =>
  command
    .option('--vni <n>', 'the number of the network', number, 42)
    .option('--local <address>', 'IP address of this end of the tunnel', '10.1.0.1')
    .option('--remote <address>', 'of the other end', '10.1.0.2')
    .option('--local-mac <address>', 'MAC address of this end', '02:00:00:00:00:01')
    .option('--remote-mac <address>', 'of the other end', '02:00:00:00:00:02')
    .option('--port <n>', 'of the devices', number, 1)
    .option('--json', 'print JSON');

const program = new Command('vxlan-gateway')
  .description('A VXLAN gateway by the flow actions of a ConnectX: between captures, or between two devices.')
  .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 wrong command line.');

for (const direction of /** @type {const} */ (['encap', 'decap'])) {
  const what = direction === 'encap' ? 'put the frames of a capture into the tunnel' : 'take them out of the tunnel';
  ofTunnel(program.command(direction).description(what).argument('<in.pcap>').argument('<out.pcap>'))
    .option('--sender <name>', 'the device that sends; default one of the software NIC')
    .option('--receiver <name>', 'the device that receives; default one of the software NIC')
    .action(
      async (
        /** @type {string} */ input,
        /** @type {string} */ output,
        /** @type {Options & { sender?: string, receiver?: string }} */ { sender, receiver, port, json, ...tunnel },
      ) => {
        if (sender === undefined || receiver === undefined)
          addDevices(SOFT.map((name) => `${name},${SWITCH}`).join(';'));
        const devices = { sender: sender ?? SOFT[0] ?? '', receiver: receiver ?? SOFT[1] ?? '', port };
        const onProgress = (/** @type {number} */ frames) => {
          if (process.stderr.isTTY) process.stderr.write(`\r${frames} frames`);
        };
        const counts = await convert({ direction, devices, tunnel, input, output, onProgress });
        if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
        if (json === true) console.log(JSON.stringify({ direction, ...counts }));
        else
          console.log(
            `${counts.written} of ${counts.frames} frames${counts.outside > 0 ? `, ${counts.outside} outside the tunnel` : ''}`,
          );
      },
    );
}

ofTunnel(program.command('run').description('forward between two devices until Ctrl-C'))
  .requiredOption('--plain <name>', 'the device of the network inside')
  .requiredOption('--outer <name>', 'the device of the network that the tunnel goes through')
  .action(async (/** @type {Options & { plain: string, outer: string }} */ { plain, outer, port, json, ...tunnel }) => {
    const stop = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM']) {
      process.once(signal, () => {
        stop.abort();
      });
    }
    const onReady = () => {
      console.error(`vxlan-gateway: forwarding between ${plain} and ${outer}, VNI ${tunnel.vni}`);
    };
    const counts = await forward({ plain, outer, port, tunnel, signal: stop.signal, onReady });
    if (json === true) console.log(JSON.stringify(counts));
    else
      console.log(
        `${counts.encapsulated} encapsulated, ${counts.decapsulated} decapsulated, ${counts.dropped} dropped`,
      );
  });

program.exitOverride();
for (const command of program.commands) command.exitOverride();
try {
  await program.parseAsync();
} catch (error) {
  // commander has printed its own messages; help is no error.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    console.error(`vxlan-gateway: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
