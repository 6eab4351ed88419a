// Random sequences of calls of @verbs/core with hostile arguments, repeatable by a seed. See `--help`.
import process from 'node:process';
import { commonCalls, dataCalls } from './hostile/calls-data.mjs';
import { objectCalls } from './hostile/calls-objects.mjs';
import { CoreSequence } from './hostile/core-sequence.mjs';
import { runHostile } from './hostile/main.mjs';

const tables = [objectCalls, dataCalls];

/**
 * Methods that TypeScript keeps from programs (protected), and JavaScript does not. Constructors are tried with what they
 * are not given by the package, whoever they are for.
 */
const guarded = new Set([
  'constructor',
  'use',
  'describe',
  'onClosed',
  'addParent',
  'replaceParent',
  'rewrite',
  'requestAt',
]);

function argumentsOf(name) {
  const table = tables.find((each) => Object.hasOwn(each, name));
  const [, member = name] = name.split(/\.(.*)/s);
  return table?.[name] ?? (Object.hasOwn(commonCalls, member) ? commonCalls[member] : undefined);
}

function subjectOf(core) {
  // These keep the addresses, which every sequence would otherwise search for.
  const kept = [core.openDevice('soft0'), core.openDevice('soft1')];
  return {
    api: core,
    isInternal: (key) => (typeof key === 'symbol' ? Symbol.keyFor(key)?.startsWith('@verbs/') : guarded.has(key)),
    busy: /^(QueuePair\.(post|modify)|SharedReceiveQueue\.post|SendBatch\.set$|RecvBatch\.set$|CompletionQueue\.(poll|wait|\[)|CompletionChannel\.get)/,
    argumentsOf,
    errors: [core.VerbsError],
    sequence: (random, subject, tools) => new CoreSequence(core, random, subject, tools),
    counts: () => core.objectCounts(),
    close: () => {
      for (const ctx of kept) ctx.close();
    },
  };
}

// Two devices, so that objects of two can meet.
process.env['VERBS_SOFT'] ??= 'soft0;soft1';
await runHostile(new URL('../../dist/index.js', import.meta.url), subjectOf);
