import { closeSync, openSync, writeSync } from 'node:fs';
import { Failure, fileReason } from '@verbs/lib/failure';
import { jsonText } from '@verbs/lib/text';
import { processes, type ReasonReport } from '@verbs/soft';
import { Command } from 'commander';
import { launch } from '../launch/launch.js';
import { note, painter, print, printJsonLine } from '../output.js';
import { FAILED, Findings } from '../why/findings.js';
import { reasonLines } from '../why/lines.js';
import { LAUNCH_NOTES, addLaunchOptions, type LaunchArguments, launchOptions } from './launch-options.js';

export function whyCommand(): Command {
  const command = new Command('why')
    .description('run a verbs program on the software NIC, and tell why a call, a request or a packet fails')
    .argument('<program>', 'the program, as for a shell; or the process ID of one that runs')
    .argument('[arguments...]', 'its arguments, options included')
    .passThroughOptions()
    .option('--json', 'write a JSON object on a line for each')
    .option('-o, --output <file>', 'write to this file, instead of standard error');
  return addLaunchOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  verbs why -- ./program                 why does ibv_modify_qp say EINVAL?
  verbs why --json -o why.jsonl -- ctest all tests, their failures for programs
  verbs why 4711                         what the process had lately, the last 64 of each device

With a program it tells each refused call, each failed request and each dropped packet, with what would help, on standard
error; and at the end how often there was which. The same reason more than 64 times in a process is told at each doubling.
Of a process that runs, or for --json of one, it tells on standard output.
${LAUNCH_NOTES}`,
    )
    .action(async (program: string, args: string[], options: WhyArguments) => {
      if (args.length === 0 && /^\d+$/.test(program)) tellProcess(Number(program), options);
      else process.exitCode = await tellProgram([program, ...args], options);
    });
}

interface WhyArguments extends LaunchArguments {
  json?: boolean;
  output?: string;
}

async function tellProgram(command: string[], options: WhyArguments): Promise<number> {
  const { json = false, output } = options;
  const findings = new Findings();
  const out = output === undefined ? undefined : openOutput(output);
  const write = (line: string) => {
    if (out === undefined) note(line);
    else writeSync(out, `${line}\n`);
  };
  const paint = out === undefined ? painter(process.stderr) : (_style: unknown, text: string) => text;
  // What came to a queue pair that had failed: the cause may come later, from the other end.
  const late: ReasonReport[] = [];
  const tell = (reason: ReasonReport) => {
    for (const line of reasonLines(reason, paint)) write(line);
  };
  try {
    const { status } = await launch(command, {
      ...launchOptions(options),
      report: (reason) => {
        const whole = findings.add(reason);
        if (json) write(jsonOf(whole));
        else if (whole.reason === FAILED) late.push(whole);
        else tell(whole);
      },
    });
    for (const reason of late) tell(reason);
    if (json) write(jsonOf({ summary: findings.counts() }));
    else for (const line of summaryLines(findings)) write(line);
    return status;
  } finally {
    if (out !== undefined) closeSync(out);
  }
}

function openOutput(path: string): number {
  try {
    return openSync(path, 'w');
  } catch (error) {
    throw new Failure(`${path}: ${fileReason(error)}`, {
      hint: 'give --output a file that can be written',
      cause: error,
    });
  }
}

function jsonOf(value: unknown): string {
  return jsonText(JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? item.toString() : item)));
}

function summaryLines(findings: Findings): string[] {
  const counts = findings.counts();
  if (counts.length === 0) return ['verbs why: no call was refused, no request failed, no packet was dropped'];
  const rows = counts.map(({ reason, text, count, exact }) => {
    return `${`${exact ? '' : 'at least '}${count}`.padStart(8)}  ${reason.padEnd(22)}  ${text}`;
  });
  return ['verbs why: how often, and of each reason the last', ...rows];
}

function tellProcess(pid: number, { json = false }: WhyArguments): void {
  const all = processes();
  const found = all.find((process) => process.pid === pid);
  if (found === undefined) {
    const there = all.map((process) => `${process.pid} (${process.name})`);
    throw new Failure(`process ${pid} has no device of the software NIC open, or is not yours`, {
      hint: there.length === 0 ? 'no process of yours has one open' : `these have: ${there.join(', ')}`,
    });
  }
  const reasons = withCauses(
    found.devices.flatMap((device) => device.reasons).sort((a, b) => (a.time < b.time ? -1 : Number(a.time > b.time))),
    all.flatMap(({ devices }) => devices.flatMap((device) => device.reasons)),
  );
  if (json) {
    for (const reason of reasons) printJsonLine(reason);
    return;
  }
  const paint = painter(process.stdout);
  for (const reason of reasons) for (const line of reasonLines(reason, paint)) print(line);
  if (reasons.length === 0)
    print(`${found.name} (${pid}): no call was refused, no request failed, no packet was dropped`);
}

/** What the peers' ends had against its requests, of all processes. */
function withCauses(reasons: readonly ReasonReport[], all: readonly ReasonReport[]): ReasonReport[] {
  const findings = new Findings();
  for (const reason of all) findings.add(reason);
  return reasons.map((reason) => findings.add(reason));
}
