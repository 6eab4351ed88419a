import { createRequire } from 'node:module';
import { Failure } from '@verbs/lib/failure';
import { Command } from 'commander';
import { captureCommand } from './commands/capture.js';
import { commCommand } from './commands/comm.js';
import { completionCommand } from './commands/completion.js';
import { devicesCommand } from './commands/devices.js';
import { devinfoCommand } from './commands/devinfo.js';
import { doctorCommand } from './commands/doctor.js';
import { encapCommand } from './commands/encap.js';
import { gidsCommand } from './commands/gids.js';
import { manCommand } from './commands/man.js';
import { perfCommand } from './commands/perf.js';
import { pingCommand } from './commands/ping.js';
import { reformatCommand } from './commands/reformat.js';
import { runCommand } from './commands/run.js';
import { showCommand } from './commands/show.js';
import { statCommand } from './commands/stat.js';
import { topCommand } from './commands/top.js';
import { whyCommand } from './commands/why.js';
import { wrapHelp } from './help.js';
import { printText } from './output.js';

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

/** Of an output that is no terminal. */
const COLUMNS = 80;

export function createProgram(): Command {
  const program = new Command('verbs')
    .description('RDMA verbs on the command line, on real devices or on the software NIC')
    .version(version)
    // Options behind a subcommand's own arguments belong to the program that it runs.
    .enablePositionalOptions()
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .configureOutput({
      writeOut: (text) => {
        printText(process.stdout, wrapHelp(text, process.stdout.columns || COLUMNS));
      },
      writeErr: (text) => {
        printText(process.stderr, text);
      },
    })
    .showHelpAfterError('(see verbs --help and verbs COMMAND --help)')
    .hook('preAction', (_program, command) => {
      refuseEmpty(command);
    })
    .addHelpText(
      'after',
      `
Examples:
  verbs doctor                       why is there no RDMA device here, and what would help?
  verbs devinfo -v                   every attribute of every device
  verbs run -- ibv_rc_pingpong -g 0  an unmodified verbs program on the software NIC

Exit codes: 0 done, 1 failed, 2 wrong command line. "verbs run" and "verbs why" pass on the program's own.`,
    );
  const commands = [
    devicesCommand(),
    devinfoCommand(),
    gidsCommand(),
    doctorCommand(),
    runCommand(),
    whyCommand(),
    captureCommand(),
    showCommand(),
    topCommand(),
    statCommand(),
    pingCommand(),
    perfCommand(),
    commCommand(),
    encapCommand(),
    reformatCommand(),
    completionCommand(),
    manCommand(),
  ];
  for (const command of commands) program.addCommand(inherit(command, program));
  program.exitOverride();
  return program;
}

/** A variable that is not set leaves an empty word. The arguments of a program may be empty: they are its own. */
function refuseEmpty(command: Command): void {
  const argument = command.registeredArguments.find((each, i) => !each.variadic && command.args[i] === '');
  const option = command.options.find((each) => command.getOptionValue(each.attributeName()) === '');
  const empty = option?.flags ?? argument?.name();
  if (empty !== undefined) {
    throw new Failure(`${empty}: the value is empty`, { hint: 'is a variable of the shell not set?', exitCode: 2 });
  }
}

/** Subcommands inherit the settings too; exits become exceptions. */
function inherit(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent).exitOverride();
  for (const each of command.commands) inherit(each, command);
  return command;
}
