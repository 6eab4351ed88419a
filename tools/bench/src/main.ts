import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { comparisons } from './comparisons.js';
import { measure } from './program.js';
import { describe } from './report.js';
import { type ComparisonResult, compare } from './rounds.js';

const USAGE = `usage: npm run bench -- [--rounds NUMBER] [--quick] [--only TEXT] [--json]

Measures the software NIC side by side with its peers, the contenders taking turns. A ratio is the median of the ratios
within each round. Whatever else runs on the machine shows in the figures.

  --rounds NUMBER  how often each contender runs (default 9, with --quick 3)
  --quick          a tenth of the round trips and messages
  --only TEXT      the comparisons with that in their names, for instance speeds
  --json           print the results as JSON`;

interface Settings {
  rounds: number;
  scale: number;
  only: string;
  json: boolean;
}

/** The exit code is 0, 1 if a program fails, 2 for a wrong command line. A missed target is a result, not a failure. */
export async function main(args: string[]): Promise<void> {
  const settings = readSettings(args);
  if (settings === undefined) return;
  try {
    const results = await runAll(settings);
    const processors = { model: cpus()[0]?.model ?? 'unknown', count: availableParallelism() };
    if (settings.json) console.log(JSON.stringify({ rounds: settings.rounds, processors, results }, null, 2));
    else console.log(`\n${results.map(describe).join('\n\n')}\n\n${processors.count} processors ${processors.model}`);
  } catch (error) {
    console.error(`bench: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}

async function runAll({ rounds, scale, only }: Settings): Promise<ComparisonResult[]> {
  const results: ComparisonResult[] = [];
  const wanted = comparisons(scale).filter(({ name }) => name.includes(only));
  if (wanted.length === 0) throw new Error(`no comparison has "${only}" in its name`);
  for (const comparison of wanted) {
    console.error(comparison.name);
    const say = (round: number) => process.stderr.isTTY && process.stderr.write(`  round ${round} of ${rounds}\r`);
    results.push(await compare(comparison, rounds, measure, say));
  }
  return results;
}

function readSettings(args: string[]): Settings | undefined {
  try {
    const { values } = parseArgs({
      args,
      options: {
        rounds: { type: 'string' },
        quick: { type: 'boolean', default: false },
        only: { type: 'string', default: '' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) {
      console.log(USAGE);
      return undefined;
    }
    const rounds = Number(values.rounds ?? (values.quick ? 3 : 9));
    if (!Number.isSafeInteger(rounds) || rounds < 1) {
      throw new Error(`--rounds is ${values.rounds}: a whole number from 1 on is needed`);
    }
    return { rounds, scale: values.quick ? 0.1 : 1, only: values.only, json: values.json };
  } catch (error) {
    console.error(`bench: ${(error as Error).message}\n\n${USAGE}`);
    process.exitCode = 2;
    return undefined;
  }
}
