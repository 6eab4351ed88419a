#!/usr/bin/env node
import { installMissing } from '../../../tools/setup/src/debian.mjs';
import { main } from '../dist/main.js';

const args = process.argv.slice(2);
if (args.includes('--install')) {
  try {
    installMissing(['libfabric-bin', 'libopenmpi-dev', 'openmpi-bin', 'perftest', 'ucx-utils', 'util-linux']);
  } catch (error) {
    // Without root: the command to run.
    console.error(/** @type {Error} */ (error).message);
    process.exitCode = 1;
  }
} else {
  await main(args);
}
