#!/usr/bin/env node
import { rmSync } from 'node:fs';
import { basename } from 'node:path';
import { constants } from 'node:os';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { startAgent } from '../src/agent.mjs';
import { getOf, list, partFor, putOf, runOf } from '../src/host.mjs';
import { withLink } from '../src/link.mjs';
import { fileSource, streamSource } from '../src/source.mjs';

/** @typedef {{ service: string, device?: string, patience: number, json?: boolean }} Options */
/** @import { Link } from '../src/link.mjs' */

const seconds = (/** @type {string} */ text) => {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('whole seconds');
  return Number(text);
};

const note = (/** @type {string} */ text) => {
  console.error(`bluefield: ${text}`);
};

/** @param {string} what */
const progress =
  (what) =>
  (/** @type {number} */ bytes, all = Number.NaN) => {
    if (!process.stderr.isTTY) return;
    process.stderr.write(
      bytes === all ? '\r\x1b[K' : `\r${what}: ${bytes}${Number.isNaN(all) ? '' : ` of ${all}`} bytes`,
    );
  };

/** @param {Command} command */
const common = (command) =>
  command
    .option('--service <name>', 'the service on the Comm Channel', 'agent')
    .option('--device <pci or name>', 'the device of this side; default the first one')
    .option('--json', 'print JSON');

/** @param {Command} command */
const ofHost = (command) =>
  common(command).option('--patience <seconds>', 'without a connection to the agent', seconds, 30);

/**
 * @template T
 * @param {Options} options
 * @param {(link: Link) => Promise<T>} body
 * @param {boolean} [repeat]
 */
const ask = ({ service, device, patience }, body, repeat = true) =>
  withLink({ service, device, patience, repeat, note }, body);

const program = new Command('bluefield')
  .description('Files and commands between a host and its BlueField DPU, over the DOCA Comm Channel.')
  .enablePositionalOptions()
  .addHelpText(
    'after',
    '\nExit codes: 0 done, 1 failed, 2 wrong command line; run has that of the command, 128 + n for signal n.',
  );

common(program.command('agent').description('on the DPU: serve hosts until Ctrl-C'))
  .option('--representor <pci>', "the host's function; default the first one")
  .option('--directory <path>', 'of the files', '.')
  .option(
    '--allow <program>',
    'a program that hosts may run; again for others',
    (each, all) => [...all, each],
    [''].slice(1),
  )
  .action(
    async (
      /** @type {Options & { representor?: string, directory: string, allow: string[] }} */ {
        service,
        device,
        representor,
        directory,
        allow,
        json,
      },
    ) => {
      const agent = startAgent({ service, device, representor, directory, allow, note });
      note(`serving ${service} on ${agent.device}, files in ${directory}`);
      const stopped = new Promise((resolve) => ['SIGINT', 'SIGTERM'].map((signal) => process.once(signal, resolve)));
      await Promise.race([stopped, agent.serving]);
      agent.close();
      if (json === true) console.log(JSON.stringify({ service, hosts: agent.hosts() }));
    },
  );

ofHost(program.command('put').description('send a file to the DPU; - is the standard input').argument('<file>'))
  .argument('[name]', 'on the DPU; default that of the file')
  .action(
    async (/** @type {string} */ path, /** @type {string | undefined} */ given, /** @type {Options} */ options) => {
      const name = given ?? basename(path);
      const source = path === '-' ? streamSource(process.stdin) : await fileSource(path);
      const done = await ask(options, putOf(source, name, progress(name))).finally(() => source.close());
      console.log(
        options.json === true ? JSON.stringify({ name, ...done }) : `${done.bytes} bytes, SHA-256 ${done.sha256}`,
      );
    },
  );

ofHost(program.command('get').description('fetch a file of the DPU').argument('<name>').argument('[file]')).action(
  async (/** @type {string} */ name, /** @type {string | undefined} */ given, /** @type {Options} */ options) => {
    const path = given ?? name;
    const part = partFor(path);
    // Nobody goes on with what a failed or interrupted transfer has gathered.
    const forget = () => {
      rmSync(part, { force: true });
    };
    for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
      process.once(signal, () => {
        forget();
        process.kill(process.pid, signal);
      });
    }
    const done = await ask(options, getOf(name, { path, part }, progress(name))).finally(forget);
    console.log(
      options.json === true ? JSON.stringify({ name, ...done }) : `${done.bytes} bytes, SHA-256 ${done.sha256}`,
    );
  },
);

ofHost(program.command('list').description('the files of the DPU')).action(async (/** @type {Options} */ options) => {
  const files = await ask(options, list);
  if (options.json === true) console.log(JSON.stringify(files));
  else for (const { name, bytes } of files) console.log(`${String(bytes).padStart(12)}  ${name}`);
});

ofHost(program.command('run').description('run a command on the DPU').passThroughOptions())
  .argument('<command...>')
  .action(async (/** @type {string[]} */ command, /** @type {Options} */ options) => {
    const onOutput = (/** @type {'O' | 'E'} */ type, /** @type {Uint8Array} */ bytes) => {
      (type === 'O' && options.json !== true ? process.stdout : process.stderr).write(bytes);
    };
    const { code, signal } = await ask(options, runOf(command, onOutput), false);
    if (options.json === true) console.log(JSON.stringify({ command, code, signal }));
    process.exitCode = code ?? 128 + constants.signals[/** @type {NodeJS.Signals} */ (signal)];
  });

program.exitOverride();
for (const command of program.commands) command.exitOverride();
try {
  await program.parseAsync();
} catch (error) {
  // commander has printed its own messages; help is no error.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    note(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
