// Random sequences of calls of @verbs/doca-comm with hostile arguments, over both APIs, repeatable by a seed. See `--help`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { runHostile } from '../../../core/test/programs/hostile/main.mjs';
import { openCounts } from './hostile/counts.mjs';
import { DocaSequence } from './hostile/doca-sequence.mjs';
import { declarationsOf } from './hostile/declarations.mjs';
import { endpointCalls } from './hostile/calls-endpoint.mjs';
import { comchCalls, commonCalls } from './hostile/calls-comch.mjs';
import { connectedPair, sides } from './hostile/prepare.mjs';

const tables = [comchCalls, endpointCalls];

function argumentsOf(name) {
  const table = tables.find((each) => Object.hasOwn(each, name));
  const [, member = name] = name.split(/\.(.*)/s);
  return table?.[name] ?? (Object.hasOwn(commonCalls, member) ? commonCalls[member] : undefined);
}

/** The exports, and the classes of the objects that calls give. Each part of the library is used once. */
async function completed(exports) {
  const { objects, close } = await connectedPair(exports);
  await close();
  return {
    ...exports,
    ...Object.fromEntries(Object.entries(objects).map(([name, { constructor }]) => [name, constructor])),
  };
}

async function subjectOf(exports, main) {
  const declarations = declarationsOf(join(dirname(main), 'index.d.ts'));
  // Open devices keep their links to each other: those of these come with the first connection. And what is forgotten ends
  // as another engine of the thread makes progress.
  const { dpu: device, rep: deviceRep, host } = sides(exports, 'comch');
  const kept = new exports.Server({ device, deviceRep, name: 'kept' });
  const api = await completed(exports);
  return {
    api,
    isInternal: declarations.isInternal,
    missing: declarations.exported.filter((name) => api[name] === undefined),
    busy: /^(new (Server|Client)|(Server|Client|Connection|Consumer|Producer|allocMmap)\b)/,
    argumentsOf,
    errors: [api.DocaError],
    sequence: (random, subject, tools, index) => new DocaSequence(api, random, subject, tools, index),
    counts: () => {
      kept.progress();
      return openCounts();
    },
    close: () => {
      for (const each of [kept, deviceRep, device, host]) each.close();
    },
  };
}

// Services are found by their names, and each name is there once in a directory.
const directory = mkdtempSync(join(tmpdir(), 'verbs-doca-hostile-'));
process.env['XDG_RUNTIME_DIR'] = directory;
process.once('exit', () => {
  rmSync(directory, { recursive: true, force: true });
});
await runHostile(new URL('../../dist/index.js', import.meta.url), subjectOf);
