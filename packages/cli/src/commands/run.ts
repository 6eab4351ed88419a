import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { launch, statusDespite } from '../launch/launch.js';
import { analyze } from '../show/analyze.js';
import { openPage } from '../show/open-page.js';
import { writePage } from '../show/write-page.js';
import { temporaryFolder } from '../files.js';
import { LAUNCH_NOTES, addLaunchOptions, type LaunchArguments, launchOptions } from './launch-options.js';

export function runCommand(): Command {
  const command = new Command('run')
    .description('run an unmodified verbs program on the software NIC')
    .argument('<program>', 'the program, as for a shell')
    .argument('[arguments...]', 'its arguments, options included')
    .passThroughOptions()
    .option('--capture <file>', 'write the packets of all its processes to a pcapng file')
    .option('--show', 'afterwards write a page with the ladder of the packets, and open it on a desktop');
  return addLaunchOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  verbs run -- ibv_rc_pingpong -g 0                    the server; the same with 127.0.0.1 is the client
  verbs run --faults drop=0.02,seed=7 -- PROGRAM       lose every fiftieth packet, the same ones each time
  verbs run --faults fault=drop:opcode=rc_send_only:nth=3 -- PROGRAM    lose the third SEND
  verbs run --show -- PROGRAM                          who sent what, in the browser; see verbs show
  verbs run --device soft0,mtu=1024 -- ibv_devinfo     set up the device
${LAUNCH_NOTES}`,
    )
    .action(async (program: string, args: string[], options: RunArguments) => {
      process.exitCode = await run([program, ...args], options);
    });
}

interface RunArguments extends LaunchArguments {
  capture?: string;
  show?: boolean;
}

async function run(command: string[], options: RunArguments): Promise<number> {
  const { capture, show } = options;
  if (show !== true) {
    const { status } = await launch(command, { ...launchOptions(options), ...(capture !== undefined && { capture }) });
    return status;
  }
  const directory = capture === undefined ? temporaryFolder('verbs-run-') : undefined;
  const file = capture ?? join(directory ?? '', 'run.pcapng');
  // The page of a capture that is kept lies beside it.
  const page = directory === undefined ? `${file.replace(/\.pcapng$/, '')}.html` : `${directory}.html`;
  try {
    const { status, capture: captured } = await launch(command, { ...launchOptions(options), capture: file });
    return captured === undefined ? status : showPage(file, page, status);
  } finally {
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  }
}

function showPage(file: string, page: string, status: number): number {
  try {
    using course = analyze(file);
    writePage(course, page);
  } catch (error) {
    return statusDespite(error, status);
  }
  openPage(page);
  return status;
}
