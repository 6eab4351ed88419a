#!/usr/bin/env node
// `npm run trial interop`: our NIC and the kernel's soft RoCE on one wire.
import { parseArgs } from 'node:util';
import { runCommand } from '../../../tools/check/src/command.mjs';
import { parts, runInterop } from '../src/interop.mjs';
import { interopReport } from '../src/interop-report.mjs';
import { debianKernel } from '../src/kernel.mjs';
import { enterNamespace } from '../src/namespace.mjs';
import { installForTestbed } from '../src/requirements.mjs';

/** @import { Result } from '../src/pairing.mjs' */

const usage = `Usage: npm run trial interop -- [--quick] [--part NAME]... [--only TEXT] [--json]

Our NIC on this host and the kernel's rxe in a virtual machine, in a network namespace of their own, in both directions, over
IPv4 and IPv6. Every frame is captured and checked, but for the faults.

  --quick       a few cases; a part of npm test
  --part NAME   cases (every operation, size and error), programs (Debian's), connections (by librdmacm), default (some of
                each, with nothing configured) or faults (either end's packets are lost, doubled, reordered or broken); all
                if not given
  --only TEXT   the checks whose name contains the text
  --json        the results as one JSON object
  --help        print this text`;

/** @param {string[]} args */
function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
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
  name: 'interop',
  usage,
  read: readOptions,
  run: async ({ quick, parts: wanted, only, json }) => {
    installForTestbed();
    // The namespace has no way to Debian's archive.
    debianKernel();
    const inside = enterNamespace();
    if (inside !== undefined) return await inside;
    /** @type {Result[]} */
    const results = [];
    const { kernel, wire } = await runInterop({
      ...{ quick, parts: wanted, only },
      each: (result) => {
        results.push(result);
        const { part, name, direction, family, failure } = result;
        const which = `${part} IPv${family} ${direction}: ${name}`;
        if (!json) console.log(failure === null ? `ok ${which}` : `FAILED ${which}: ${failure}`);
      },
    });
    const { text, ok } = interopReport(results, wire, kernel);
    console.log(json ? JSON.stringify({ kernel, ok, wire, results }, undefined, 2) : `\n${text}`);
    return ok ? 0 : 1;
  },
});
