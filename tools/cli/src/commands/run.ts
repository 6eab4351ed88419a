import { Command } from 'commander';
import { launch } from '../launch/launch.js';
import { LAUNCH_NOTES, addLaunchOptions, type LaunchArguments, launchOptions } from './launch-options.js';

export function runCommand(): Command {
  const command = new Command('run')
    .description('run an unmodified verbs program on the software NIC')
    .argument('<program>', 'the program, as for a shell')
    .argument('[arguments...]', 'its arguments, options included')
    .passThroughOptions()
    .option('--capture <file>', 'write the packets of all its processes to a pcapng file');
  return addLaunchOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  verbs run -- ibv_rc_pingpong -g 0                    the server; the same with 127.0.0.1 is the client
  verbs run --faults drop=0.02,seed=7 -- PROGRAM       lose every fiftieth packet, the same ones each time
  verbs run --faults fault=drop:opcode=rc_send_only:nth=3 -- PROGRAM    lose the third SEND
  verbs run --device soft0,mtu=1024 -- ibv_devinfo     set up the device
${LAUNCH_NOTES}`,
    )
    .action(async (program: string, args: string[], options: LaunchArguments & { capture?: string }) => {
      const { status } = await launch([program, ...args], {
        ...launchOptions(options),
        ...(options.capture !== undefined && { capture: options.capture }),
      });
      process.exitCode = status;
    });
}
