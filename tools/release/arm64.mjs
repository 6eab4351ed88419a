// `npm run trial arm64`: the files for arm64, on an emulated machine.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runCommand } from '../check/src/command.mjs';
import { setUp } from '../setup/src/set-up.mjs';
import { exitStatus } from '../setup/src/shell.mjs';

const usage = `Usage: npm run trial arm64

Builds all packages for arm64 with Debian's cross compiler, and runs C++ tests and the packed packages in qemu's user mode,
on Node.js for arm64. The system's libraries and qemu are fetched into .tools/, which takes root for debootstrap.

  --help   print this text`;

await runCommand({
  name: 'arm64',
  usage,
  read: (args) => parseArgs({ args, options: { help: { type: 'boolean', default: false } } }).values,
  run: () => {
    const env = { ...setUp({ forTests: true }), VERBS_PACKED_ARM64: '1' };
    return exitStatus('vitest', ['run', 'test/arm64'], { cwd: dirname(fileURLToPath(import.meta.url)), env });
  },
});
