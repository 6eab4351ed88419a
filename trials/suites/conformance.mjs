// `npm run trial conformance`: the rules of the specification and of the kernel, by plain C calls of libibverbs, on the
// software NIC or on any other device.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setUp } from '../../tools/setup/src/set-up.mjs';
import { runCommand } from '../../tools/check/src/command.mjs';
import { buildSoft, softBuild } from './src/soft-programs.mjs';

const usage = `Usage: npm run trial conformance -- [--device NAME] [--gid INDEX] [--only TEXT] [--json] [--list]

Runs on the software NIC, and with --device on a device of this machine by the system's libibverbs. The output is TAP.
Where devices differ, the software NIC must do what docs/devices.md says; of another device the answer is printed.

  --device NAME  a device of this machine: "ibv_devices" lists them
  --gid INDEX    the GID to use; a RoCE v2 one if not given
  --only TEXT    the cases whose name contains the text
  --json         one JSON object a line
  --list         only the names of the cases
  --help         print this text`;

/** @param {string[]} args */
function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      device: { type: 'string' },
      gid: { type: 'string' },
      only: { type: 'string' },
      json: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.gid !== undefined && !/^\d+$/.test(values.gid))
    throw new TypeError(`--gid ${values.gid}: give a whole number`);
  return values;
}

/** @param {ReturnType<typeof readOptions>} options */
function testConformance({ device, gid, only, json, list }) {
  const env = setUp({ forTests: false });
  buildSoft(env, ['conformance']);
  const args = [];
  if (gid !== undefined) args.push('--gid', gid);
  if (only !== undefined) args.push('--only', only);
  if (json) args.push('--json');
  if (list) args.push('--list');
  const run = { ...process.env };
  if (device === undefined) {
    delete run['VERBS_SOFT'];
    run['LD_LIBRARY_PATH'] = join(softBuild, 'lib/dropin');
    args.push('--exact');
  } else {
    args.push('--device', device);
  }
  const { status, error } = spawnSync(join(softBuild, 'conformance'), args, { env: run, stdio: 'inherit' });
  if (error) throw error;
  return status ?? 1;
}

await runCommand({ name: 'conformance', usage, read: readOptions, run: testConformance });
