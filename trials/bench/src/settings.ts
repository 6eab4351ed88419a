import { parseArgs } from 'node:util';

export const USAGE = `usage: npm run bench -- [--quick] [--rounds NUMBER] [--minutes NUMBER] [--only TEXT] [--json] [--html FILE]
                        [--write DIR] [--baseline DIR]
       npm run bench -- --install

Measures the software NIC side by side with its peers, the contenders taking turns. A ratio is the median of the ratios
within each round, and each measurement is tagged by how near the processors were. Whatever else runs on the machine shows
in the figures. Programs of others that are not installed are left out, and named.

  --quick          few sizes, a tenth of the messages, and as many rounds, up to 3, as fit into 80 seconds
  --rounds NUMBER  how often each contender runs (default 9)
  --minutes NUMBER no further round begins that would take longer than that altogether (default 30)
  --only TEXT      the comparisons with that in their names, for instance "64 bytes"
  --json           print the results as JSON
  --html FILE      write the report, with plots, to that file
  --write DIR      the figures into the documents of that checkout; a run of everything
  --baseline DIR   a built checkout of a former state, for the target that is relative to it
  --install        install the Debian packages of the others' programs, as root; otherwise print the command`;

export interface Settings {
  /** At most. */
  rounds: number;
  /** No further round begins that would end later than that after the start. */
  seconds: number;
  quick: boolean;
  only: string;
  json: boolean;
  html?: string;
  write?: string;
  baseline?: string;
}

const QUICK_ROUNDS = 3;
const QUICK_SECONDS = 80;
const ROUNDS = 9;
const MINUTES = 30;

/** @throws Error for a wrong command line; undefined: only the usage is wanted */
export function readSettings(args: string[]): Settings | undefined {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string' },
      minutes: { type: 'string' },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      json: { type: 'boolean', default: false },
      html: { type: 'string' },
      write: { type: 'string' },
      baseline: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return undefined;
  const { quick, only, json, html, write, baseline } = values;
  if (write !== undefined && (quick || only !== '')) {
    throw new Error('--write is for a run of everything: without --quick and --only');
  }
  const rounds = Number(values.rounds ?? (quick ? QUICK_ROUNDS : ROUNDS));
  if (!Number.isSafeInteger(rounds) || rounds < 1) {
    throw new Error(`--rounds is ${values.rounds}: a whole number from 1 on is needed`);
  }
  const seconds = 60 * Number(values.minutes ?? (quick ? QUICK_SECONDS / 60 : MINUTES));
  if (!(seconds > 0)) throw new Error(`--minutes is ${values.minutes}: a number above 0 is needed`);
  return {
    rounds,
    seconds,
    quick,
    only,
    json,
    ...(html !== undefined && { html }),
    ...(write !== undefined && { write }),
    ...(baseline !== undefined && { baseline }),
  };
}
