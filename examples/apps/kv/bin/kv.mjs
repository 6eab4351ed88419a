#!/usr/bin/env node
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { serve } from '../src/server.mjs';
import { Store } from '../src/store.mjs';

/** @typedef {{ device?: string, host: string, port: number, json?: boolean }} Options */

/** @param {number} from @param {number} to */
const number = (from, to) => (/** @type {string} */ text) => {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (!(value >= from && value <= to)) throw new InvalidArgumentError(`a whole number from ${from} to ${to}`);
  return value;
};

/** @param {Command} command */
function withServer(command) {
  return command
    .option('--device <name>', 'the RDMA device; default the first adapter, else the software NIC')
    .option('--host <address>', 'of the server', '127.0.0.1')
    .option('--port <n>', 'of the server', number(0, 65535), 18517)
    .option('--json', 'print JSON');
}

/**
 * @template T
 * @param {Options} options
 * @param {(store: Store) => Promise<T>} body
 */
async function using({ device, host, port }, body) {
  const store = await Store.open({ device, host, port });
  try {
    return await body(store);
  } finally {
    store.close();
  }
}

const program = new Command('kv')
  .description('A key-value store in RDMA memory. Its server sleeps: clients read and write by themselves.')
  .addHelpText('after', '\nExit codes: 0 done, 1 failed or no such key, 2 wrong command line.');

withServer(program.command('serve').description('serve a table until Ctrl-C'))
  .option('--slots <n>', 'keys that the table has room for', number(1, 2 ** 32), 1024)
  .action(async (/** @type {Options & { slots: number }} */ { device, host, port, slots, json }) => {
    const onTrouble = (/** @type {string} */ text) => {
      console.error(`kv: ${text}`);
    };
    const server = await serve({ device, host, port, slots, onTrouble });
    console.error(`serving ${slots} slots of ${server.device} on ${host} port ${server.port}`);
    await new Promise((resolve) => ['SIGINT', 'SIGTERM'].map((signal) => process.once(signal, resolve)));
    server.close();
    if (json === true) console.log(JSON.stringify({ device: server.device, clients: server.clients() }));
    process.exit(); // not before the last client has left
  });

withServer(program.command('put').description('store a value').argument('<key>').argument('<value>')).action(
  async (/** @type {string} */ key, /** @type {string} */ value, /** @type {Options} */ options) => {
    await using(options, (store) => store.set(key, value));
    if (options.json === true) console.log(JSON.stringify({ key, value }));
  },
);

withServer(program.command('get').description('print a value').argument('<key>')).action(
  async (/** @type {string} */ key, /** @type {Options} */ options) => {
    const value = await using(options, (store) => store.get(key));
    if (options.json === true) console.log(JSON.stringify({ key, value: value ?? null }));
    else if (value !== undefined) console.log(value);
    if (value === undefined) process.exitCode = 1;
  },
);

withServer(program.command('delete').description('delete a key').argument('<key>')).action(
  async (/** @type {string} */ key, /** @type {Options} */ options) => {
    await using(options, (store) => store.set(key, undefined));
    if (options.json === true) console.log(JSON.stringify({ key, value: null }));
  },
);

withServer(program.command('list').description('print all keys with their values')).action(
  async (/** @type {Options} */ options) => {
    const progress = (/** @type {number} */ done, /** @type {number} */ all) => {
      if (process.stderr.isTTY) process.stderr.write(done < all ? `\r${done} of ${all} slots` : '\r\x1b[K');
    };
    const entries = await using(options, (store) => store.entries(progress));
    if (options.json === true) console.log(JSON.stringify(Object.fromEntries(entries.map((e) => [e.key, e.value]))));
    else for (const { key, value } of entries) console.log(`${key}\t${value}`);
  },
);

program.exitOverride();
for (const command of program.commands) command.exitOverride();
try {
  await program.parseAsync();
} catch (error) {
  // commander has printed its own messages; help is no error.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    console.error(`kv: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
