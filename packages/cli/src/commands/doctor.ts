import { probeLibraries } from '@verbs/core';
import { Command } from 'commander';
import { checkDevices } from '../doctor/devices.js';
import { type Finding, fail } from '../doctor/finding.js';
import { checkKernel } from '../doctor/kernel.js';
import { checkLibraries } from '../doctor/libraries.js';
import { checkLimits } from '../doctor/limits.js';
import { checkPackages } from '../doctor/packages.js';
import { checkPeers } from '../doctor/peers.js';
import { checkPort } from '../doctor/port.js';
import { checkVendors } from '../doctor/vendors.js';
import { System } from '../doctor/system.js';
import { fill } from '../help.js';
import { paint, print, printJson } from '../output.js';

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('check the requirements of RDMA on this machine, and name remedies')
    .option('--json', 'print { usable, findings: [{ topic, level, text, help? }] }')
    .addHelpText('after', '\nExample:\n  verbs doctor\n\nExit code 0 if there is a usable device, else 1.')
    .action((options: { json?: boolean }) => doctor(options.json === true));
}

async function doctor(json: boolean): Promise<void> {
  const system = new System();
  // The port is checked before a device is opened, which would hold it.
  const packages = checkPackages();
  // The rest asks the native part of @verbs/core.
  const works = (name: string) => !packages.some(({ topic, level }) => topic === name && level === 'fail');
  const native = works('@verbs/core');
  const probed = native ? probeLibraries() : [];
  const libraries = native ? [...checkLibraries(probed), ...(await checkVendors(system, probed))] : [];
  const surroundings = [...checkKernel(system), ...libraries, ...checkPort(system), ...checkLimits(system)];
  const { findings: devices, usable } = native ? checkDevices() : noNativePart();
  const findings = [...packages, ...surroundings, ...(works('@verbs/soft') ? checkPeers() : []), ...devices];
  if (json) printJson({ usable, findings });
  else for (const finding of findings) print(line(finding));
  if (!usable) process.exitCode = 1;
}

function noNativePart() {
  const text = 'no device: the native part of @verbs/core cannot be used';
  return { findings: [fail('verdict', text, 'the lines above give the reason')], usable: false };
}

const MARKS = { ok: ['green', 'ok  '], warn: ['yellow', 'warn'], fail: ['red', 'FAIL'] } as const;

/** Of a terminal that does not tell. */
const COLUMNS = 80;
/** Behind the mark. */
const INDENT = '     ';

/** On a terminal in its width; elsewhere a line for each text, for programs such as grep. */
function line({ level, topic, text, help }: Finding): string {
  const [colour, mark] = MARKS[level];
  const width = process.stdout.isTTY ? process.stdout.columns || COLUMNS : Infinity;
  const [first = '', ...rest] = fill(`${topic}: ${text}`, width, INDENT);
  const remedy = help === undefined ? [] : fill(`-> ${help}`, width, INDENT);
  const head = `${paint(process.stdout, colour, mark)} ${first.trimStart()}`;
  return [head, ...rest, ...remedy.map((each) => paint(process.stdout, 'dim', each))].join('\n');
}
