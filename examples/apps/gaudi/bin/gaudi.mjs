#!/usr/bin/env node
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { openDevice } from '@verbs/hbl';
import { portsOf, portTable } from '../src/ports.mjs';
import { send } from '../src/send.mjs';
import { tunnels } from '../src/tunnels.mjs';

/** @typedef {{ device?: string, json?: boolean }} Options */

const count = (/** @type {string} */ text) => {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('a whole number from 1');
  return Number(text);
};

const tunnelNumber = (/** @type {string} */ text) => {
  if (count(text) > 0xffffff) throw new InvalidArgumentError('at most 16777215');
  return Number(text);
};

const memory = (/** @type {string} */ text) => {
  const [, address = '', key = ''] = /^(0x[\da-f]+|\d+),(0x[\da-f]+|\d+)$/i.exec(text) ?? [];
  if (address === '') throw new InvalidArgumentError('ADDRESS,KEY');
  return { address: BigInt(address), key: Number(key) };
};

/** @param {Command} command */
const withDevice = (command) =>
  command
    .option('--device <name>', 'the Gaudi; default the first adapter, else the hbl_0 of the software NIC')
    .option('--json', 'print JSON');

const program = new Command('gaudi')
  .description('Ports, encapsulations and user FIFOs of a Gaudi, and a transfer through both.')
  .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 wrong command line.');

withDevice(program.command('ports').description('show the ports, and what they have')).action(
  async (/** @type {Options} */ { device, json }) => {
    await using(device, (ctx) => {
      const ports = portsOf(ctx);
      console.log(json === true ? JSON.stringify({ device: ctx.device.name, ports }) : portTable(ports));
    });
  },
);

withDevice(program.command('send').description('send through an encapsulation, from a port to another one'))
  .addOption(new Option('--tunnel <kind>', 'the encapsulation').choices(tunnels).default('vxlan'))
  .option('--id <n>', "the tunnel's number", tunnelNumber, 42)
  .option('--from <port>', 'the sending port', count, 1)
  .option('--to <port>', 'the receiving port', count, 2)
  .option('--count <n>', 'messages', count, 1000)
  .option('--bytes <n>', 'of a message', count, 4096)
  .option('--memory <address,key>', 'memory that the driver of the accelerator gave; two messages long', memory)
  .action(
    async (
      /** @type {Options & { tunnel: string, id: number, from: number, to: number, count: number, bytes: number, memory?: ReturnType<typeof memory> }} */ {
        device,
        json,
        tunnel: kind,
        count: messages,
        memory: given,
        ...rest
      },
    ) => {
      if (rest.from === rest.to) program.error('error: --from and --to are the same port');
      await using(device, async (ctx) => {
        const onProgress = (/** @type {number} */ done) => {
          if (process.stderr.isTTY) process.stderr.write(done < messages ? `\r${done} of ${messages}` : '\r\x1b[K');
        };
        const result = await send(ctx, { ...rest, kind, count: messages, memory: given, onProgress });
        console.log(json === true ? JSON.stringify(result) : text(result));
        if (result.intact === false) throw new Error('the last message arrived damaged');
      });
    },
  );

/**
 * @template T
 * @param {string | undefined} device
 * @param {(ctx: ReturnType<typeof openDevice>) => T | Promise<T>} body
 */
async function using(device, body) {
  const ctx = openDevice(device);
  try {
    return await body(ctx);
  } finally {
    ctx.close();
  }
}

/** @param {Awaited<ReturnType<typeof send>>} result */
function text({ tunnel, from, to, messages, bytes, doorbells, seconds, intact }) {
  const rate = ((messages * bytes * 8) / seconds / 1e6).toFixed(0);
  const arrived = intact === true ? ', the last one compared' : '';
  return `${messages} messages of ${bytes} bytes from port ${from} to port ${to} through ${tunnel}${arrived}: ${doorbells} doorbells, ${seconds.toFixed(2)} s, ${rate} Mbit/s`;
}

program.exitOverride();
for (const command of program.commands) command.exitOverride();
try {
  await program.parseAsync();
} catch (error) {
  // commander has printed its own messages; help is no error.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    console.error(`gaudi: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
