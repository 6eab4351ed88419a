#!/usr/bin/env node
// `npm run trial testbed -- COMMAND`: runs a command on the kernel's own RDMA stack, in a virtual machine.
import { runProgram } from '../../../tools/setup/src/program.mjs';
import { commandScript } from '../src/command-script.mjs';
import { runMachine } from '../src/machine.mjs';
import { installForTestbed } from '../src/requirements.mjs';

const usage = `Usage: npm run trial testbed -- COMMAND [ARGUMENT...]

Boots Debian's kernel in a virtual machine, with the host's files as its root, and runs the command there. The device rxe0
is the kernel's soft RoCE; its address is 10.77.1.1. What the command writes to files is gone afterwards. Output and exit
status are those of the command. Variables whose names begin with VERBS_ or NODE_ are passed on.

  npm run trial testbed -- ibv_devinfo -v
  npm run trial testbed -- sh -c 'rping -s -a 10.77.1.1 -C 3 & sleep 1; rping -c -a 10.77.1.1 -C 3 -v'

  --help   print this text`;

await runProgram('testbed', async () => {
  const command = process.argv.slice(2);
  if (command.length === 0 || command[0] === '--help') {
    console.log(usage);
    return command.length === 0 ? 2 : 0;
  }
  installForTestbed();
  return await runMachine({
    command: commandScript(command, { cwd: process.cwd(), env: process.env }),
    out: (data) => process.stdout.write(data),
    err: (data) => process.stderr.write(data),
  });
});
