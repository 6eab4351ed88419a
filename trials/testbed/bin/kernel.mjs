#!/usr/bin/env node
// `npm run trial kernel`: our conformance suite, the refusals of librdmacm, our programs and the tests of @verbs/core over the kernel's own verbs.
import { parseArgs } from 'node:util';
import { runCommand } from '../../../tools/check/src/command.mjs';
import { coreDifferences } from '../src/comparison/core-differences.mjs';
import { leftOut } from '../src/comparison/core-files.mjs';
import { differences } from '../src/comparison/differences.mjs';
import { kernelReport, parts } from '../src/comparison/report.mjs';
import { runKernel } from '../src/comparison/run.mjs';
import { installForTestbed } from '../src/requirements.mjs';

/** @import { KernelResult } from '../src/comparison/report.mjs' */

const usage = `Usage: npm run trial kernel -- [--part NAME]... [--only TEXT] [--json]

In a virtual machine with Debian's kernel: the cases of the trial conformance on rxe, over Debian's libibverbs, what Debian's
librdmacm refuses against the recording that ours is held to (packages/rdmacm/test/refusals), the verbs command and the
examples, and the tests of @verbs/core. What ends otherwise than on our NIC must have a reason in
trials/testbed/src/comparison/differences.mjs or core-differences.mjs, and each reason must apply.

  --part NAME   conformance, refusals, programs or core; all if not given
  --only TEXT   the cases, programs and test files whose name contains the text
  --json        the results as one JSON object
  --help        print this text`;

/** @param {string[]} args */
function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      part: { type: 'string', multiple: true, default: [...parts] },
      only: { type: 'string', default: '' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const wanted = parts.filter((part) => values.part.includes(part));
  const unknown = values.part.find((part) => !parts.some((name) => name === part));
  if (unknown !== undefined) throw new TypeError(`--part ${unknown}: give ${parts.join(', ')}`);
  return { ...values, parts: wanted };
}

await runCommand({
  name: 'kernel',
  usage,
  read: readOptions,
  run: async ({ parts: wanted, only, json }) => {
    installForTestbed();
    /** @type {KernelResult[]} */
    const results = [];
    const { kernel } = await runKernel({
      parts: wanted,
      only,
      each: (result) => {
        results.push(result);
        // Where devices differ, a case that passes says which way it went.
        const note = result.result === 'passed' && result.message !== '' ? ` (${result.message})` : '';
        if (!json) console.log(`${result.result} ${result.part} ${result.name}${note}`);
      },
    });
    const { text, ok } = kernelReport(results, [...differences, ...coreDifferences], {
      kernel,
      complete: only === '' && wanted.length === parts.length,
    });
    if (!json && wanted.includes('core')) {
      console.log('');
      for (const [place, reason] of leftOut()) console.log(`left out: core ${place}: ${reason}`);
    }
    console.log(json ? JSON.stringify({ kernel, ok, results }, undefined, 2) : `\n${text}`);
    return ok ? 0 : 1;
  },
});
