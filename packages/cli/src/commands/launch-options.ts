import { type Command, InvalidArgumentError } from 'commander';
import type { LaunchOptions } from '../launch/launch.js';

/** The options that `run` and `capture` share. */
export interface LaunchArguments {
  device?: string[];
  faults?: string;
}

export const LAUNCH_NOTES = `
The program finds our libibverbs.so.1 first (LD_LIBRARY_PATH) and its devices in VERBS_SOFT; without --device those of
the environment's VERBS_SOFT are used, else soft0. Standard streams and signals are passed on.
Exit code: the program's own, 128 + n if signal n ended it, 127 if it is not found, 126 if it cannot be executed,
1 if the capture failed, 2 for a wrong command line. If verbs itself is killed by SIGKILL, the program runs on.
What the program leaves in the background has no device any more when it ends.`;

export function addLaunchOptions(command: Command): Command {
  return command
    .option(
      '--device <config>',
      'a device in the words of VERBS_SOFT, for example soft0,mtu=1024 (repeatable)',
      collect,
    )
    .option(
      '--faults <plan>',
      'faults on the link: drop=, duplicate=, delay=, …, fault=RULE, seed=, as in VERBS_SOFT',
      plan,
    );
}

export function launchOptions({ device, faults }: LaunchArguments): LaunchOptions {
  return { ...(device && { device }), ...(faults !== undefined && { faults }) };
}

function collect(value: string, previous: string[] | undefined): string[] {
  if (value.trim() === '') throw new InvalidArgumentError('a device begins with its name, for example soft0.');
  return [...(previous ?? []), value];
}

function plan(value: string): string {
  if (!/^[a-z_]+=[^,;\s]+(,[a-z_]+=[^,;\s]+)*$/.test(value)) {
    throw new InvalidArgumentError(
      'a plan is KEY=VALUE,…, for example drop=0.02,seed=7 or fault=drop:opcode=rc_send_only:nth=3.',
    );
  }
  return value;
}
