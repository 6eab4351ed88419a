import { Command } from 'commander';
import type { CaptureSummary } from '../capture/pcapng.js';
import { launch } from '../launch/launch.js';
import { note, printJson } from '../output.js';
import { bytesText, plural } from '../text.js';
import { LAUNCH_NOTES, addLaunchOptions, type LaunchArguments, launchOptions } from './launch-options.js';

interface CaptureArguments extends LaunchArguments {
  output: string;
  json?: boolean;
}

export function captureCommand(): Command {
  const command = new Command('capture')
    .description('run a verbs program on the software NIC and write its packets to a pcapng file')
    .argument('<program>', 'the program, as for a shell')
    .argument('[arguments...]', 'its arguments, options included')
    .passThroughOptions()
    .requiredOption('-o, --output <file>', 'the capture, which Wireshark opens')
    .option('--json', 'print the summary as JSON, after the output of the program');
  return addLaunchOptions(command)
    .addHelpText(
      'after',
      `
Example:
  verbs capture -o ping.pcapng -- ibv_rc_pingpong -g 0 127.0.0.1
${LAUNCH_NOTES}`,
    )
    .action(async (program: string, args: string[], options: CaptureArguments) => {
      const { status, capture } = await launch([program, ...args], {
        ...launchOptions(options),
        capture: options.output,
      });
      process.exitCode = status;
      if (capture !== undefined) report(options, status, capture);
    });
}

function report({ output, json }: CaptureArguments, status: number, capture: CaptureSummary): void {
  const { sections, packets, bytes, sent, received } = capture;
  if (json) {
    printJson({ file: output, status, sections, packets, sent, received, bytes });
    return;
  }
  // The program owns standard output.
  note(`${output}: ${plural(packets, 'packet')} (${sent} sent, ${received} received), ${bytesText(bytes)}`);
}
