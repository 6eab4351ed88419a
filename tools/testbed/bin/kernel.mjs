#!/usr/bin/env node
// `npm run test:kernel`: our conformance suite and our programs over the kernel's own verbs.
import { parseArgs } from 'node:util';
import { runCommand } from '../../check/src/command.mjs';
import { differences } from '../src/kernel-differences.mjs';
import { kernelReport } from '../src/kernel-report.mjs';
import { runKernel } from '../src/kernel-run.mjs';
import { installForTestbed } from '../src/requirements.mjs';

/** @import { KernelResult } from '../src/kernel-run.mjs' */

const usage = `Usage: npm run test:kernel -- [--only TEXT] [--json]

In a virtual machine with Debian's kernel: the cases of test:conformance on rxe, over Debian's libibverbs, and the verbs command
and the examples. A case that ends otherwise than on our NIC must have a reason in tools/testbed/src/kernel-differences.mjs, and
each reason must apply.

  --only TEXT   the cases and programs whose name contains the text
  --json        the results as one JSON object
  --help        print this text`;

/** @param {string[]} args */
function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', default: '' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  return values;
}

await runCommand({
  name: 'test:kernel',
  usage,
  read: readOptions,
  run: async ({ only, json }) => {
    installForTestbed();
    /** @type {KernelResult[]} */
    const results = [];
    const { kernel } = await runKernel({
      only,
      each: (result) => {
        results.push(result);
        if (!json) console.log(`${result.result} ${result.name}`);
      },
    });
    const { text, ok } = kernelReport(results, differences, { kernel, complete: only === '' });
    console.log(json ? JSON.stringify({ kernel, ok, results }, undefined, 2) : `\n${text}`);
    return ok ? 0 : 1;
  },
});
