// `npm run trial nodes`: the packages' tests on every release line of Node, with one build of the addons.
import { parseArgs } from 'node:util';
import { releases } from '../../tools/setup/src/node-releases.mjs';
import { setUp } from '../../tools/setup/src/set-up.mjs';
import { mustRun } from '../../tools/setup/src/shell.mjs';
import { runCommand } from '../../tools/check/src/command.mjs';
import { testOn } from './src/nodes.mjs';
import { describe } from '../../tools/check/src/report/tally.mjs';

const usage = `Usage: npm run trial nodes -- [--node VERSION]... [--package NAME]... [--json]

Builds everything once, with the Node that runs this, and runs the tests of the packages on other releases of Node with
that same build. The releases are fetched from npm into .tools/.

  --node VERSION   a release, 24.21.0; ${releases.join(', ')} if not given
  --package NAME   a package, core; all that have tests if not given
  --json           the results as one JSON object
  --help           print this text`;

/** @param {string[]} args */
function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      node: { type: 'string', multiple: true, default: releases },
      package: { type: 'string', multiple: true },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  for (const version of values.node) {
    if (!/^\d+\.\d+\.\d+$/.test(version)) throw new TypeError(`--node ${version}: give a whole version, 24.21.0`);
  }
  return values;
}

/** @param {ReturnType<typeof readOptions>} options */
function testNodes(options) {
  const env = setUp({ forTests: true });
  mustRun('turbo', ['run', 'build:test', '--output-logs=new-only'], { env });
  const results = options.node.flatMap((version) => testOn(version, options.package, env));
  if (options.json) console.log(JSON.stringify(results, undefined, 2));
  else for (const { node, name, ...tally } of results) console.log(`Node ${node}, ${name}: ${describe(tally)}`);
  return results.some(({ failed }) => failed > 0) ? 1 : 0;
}

await runCommand({ name: 'nodes', usage, read: readOptions, run: testNodes });
