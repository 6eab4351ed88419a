import { Failure } from '@verbs/lib/failure';
import { processes, type ReasonReport } from '@verbs/soft';
import { Command } from 'commander';
import { launch, statusDespite } from '../launch/launch.js';
import { jsonOf, note, painter, print } from '../output.js';
import { FAILED, Findings } from '../why/findings.js';
import { reasonLines } from '../why/lines.js';
import { OutputFile } from '../why/output-file.js';
import { LAUNCH_NOTES, addLaunchOptions, type LaunchArguments, launchOptions } from './launch-options.js';

export function whyCommand(): Command {
  const command = new Command('why')
    .description('run a verbs program on the software NIC, and tell why a call, a request or a packet fails')
    .argument('<program>', 'the program, as for a shell; or the process ID of one that runs')
    .argument('[arguments...]', 'its arguments, options included')
    .passThroughOptions()
    .option('--json', 'write a JSON object on a line for each')
    .option('-o, --output <file>', 'write to this file, instead of standard error or output');
  return addLaunchOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  verbs why -- ./program                 why does ibv_modify_qp say EINVAL?
  verbs why --json -o why.jsonl -- ctest all tests, their failures for programs
  verbs why 4711                         what the process had lately, the last 64 of each device

With a program it tells each refused call, each failed request and each dropped packet, with what would help, on standard
error; and at the end how often there was which. A query that is refused, or a release, has its error only. The same reason more than 64 times in a process is told at each doubling.
Of a process that runs, or for --json of one, it tells on standard output.
${LAUNCH_NOTES}`,
    )
    .action(async (program: string, args: string[], options: WhyArguments) => {
      if (/^\d+$/.test(program)) tellProcess(Number(program), args, options);
      else process.exitCode = await tellProgram([program, ...args], options);
    });
}

/** Not every call that is refused has a reason: a query may say no more than EINVAL. */
const NOTHING = 'the software NIC told of no refused call, no failed request and no dropped packet';

interface WhyArguments extends LaunchArguments {
  json?: boolean;
  output?: string;
}

async function tellProgram(command: string[], options: WhyArguments): Promise<number> {
  const { json = false, output } = options;
  const findings = new Findings();
  using file = output === undefined ? undefined : new OutputFile(output);
  const { write, tell } = tellerOf(file, note, process.stderr);
  // What came to a queue pair that had failed: the cause may come later, from the other end.
  const late: ReasonReport[] = [];
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
  return file?.failure === undefined ? status : statusDespite(file.failure, status);
}

/** Writes lines and reasons into the file of --output, else to the stream of `show`. */
function tellerOf(file: OutputFile | undefined, show: (line: string) => void, stream: NodeJS.WriteStream) {
  const write = (line: string) => {
    if (file === undefined) show(line);
    else file.write(line);
  };
  const paint = file === undefined ? painter(stream) : (_style: unknown, text: string) => text;
  const tell = (reason: ReasonReport) => {
    for (const line of reasonLines(reason, paint)) write(line);
  };
  return { write, tell };
}

function summaryLines(findings: Findings): string[] {
  const counts = findings.counts();
  if (counts.length === 0) return [`verbs why: ${NOTHING}`];
  const rows = counts.map(({ reason, text, count, exact }) => {
    return `${`${exact ? '' : 'at least '}${count}`.padStart(8)}  ${reason.padEnd(22)}  ${text}`;
  });
  return ['verbs why: how often, and of each reason the last', ...rows];
}

function tellProcess(pid: number, args: readonly string[], options: WhyArguments): void {
  const { json = false, output, device, faults } = options;
  if (args.length > 0) {
    throw new Failure(`${args.join(' ')}: nothing comes behind a process ID`, {
      hint: `options come before it, as in "verbs why --json ${pid}"`,
      exitCode: 2,
    });
  }
  if (device !== undefined || faults !== undefined) {
    throw new Failure('--device and --faults are for a program that verbs starts', {
      hint: `process ${pid} has its devices already`,
      exitCode: 2,
    });
  }
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
  using file = output === undefined ? undefined : new OutputFile(output);
  const { write, tell } = tellerOf(file, print, process.stdout);
  for (const reason of reasons) {
    if (json) write(jsonOf(reason));
    else tell(reason);
  }
  if (!json && reasons.length === 0) write(`${found.name} (${pid}): ${NOTHING}`);
  if (file?.failure !== undefined) throw file.failure;
}

/** What the peers' ends had against its requests, of all processes. */
function withCauses(reasons: readonly ReasonReport[], all: readonly ReasonReport[]): ReasonReport[] {
  const findings = new Findings();
  for (const reason of all) findings.add(reason);
  return reasons.map((reason) => findings.add(reason));
}
