import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Command, CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../src/program.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** What documents write for any value, where only some are allowed. */
const VALUES: Readonly<Record<string, string>> = { OPERATION: 'send', PORT: '18515', PID: '4711', NUMBER: '7' };

interface Line {
  /** The document and its line, or the command with the help. */
  where: string;
  text: string;
  /** A mention: it may leave arguments out. */
  mention: boolean;
}

/** A program whose commands are parsed, and not carried out. */
function parser(): Command {
  const program = createProgram();
  const still = (command: Command) => {
    command.action(() => undefined).configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
    for (const each of command.commands) still(each);
  };
  for (const each of program.commands) still(each);
  return program.configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
}

function words(text: string): string[] {
  return text
    .replace(/ +#.*$/, '')
    .replace(/ *(\\|[<>&;].*)$/, '')
    .replace(/(\w)\\?\|[\w|\\]+/g, '$1')
    .split(' ')
    .map((word) => word.replace(/^\[|\]$/g, '').replace(/^(['"])(.*)\1$/, '$2'))
    .filter((word) => word !== '' && word !== '…')
    .map((word) => VALUES[word] ?? word);
}

/** Why the command line does not take it; undefined if it does. */
function problem({ text, mention }: Line): string | undefined {
  try {
    parser().parse(['node', ...words(text)]);
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    const incomplete = ['commander.missingArgument', 'commander.missingMandatoryOptionValue', 'commander.help'];
    return mention && incomplete.includes(error.code) ? undefined : error.message;
  }
}

/** The lines of a shell in blocks, and code between backticks. */
function linesOf(file: string): Line[] {
  const lines: Line[] = [];
  let fence: string | undefined;
  readFileSync(`${ROOT}/${file}`, 'utf8')
    .split('\n')
    .forEach((line, i) => {
      const where = `${file}:${i + 1}`;
      const [, mark] = /^\s*(```\w*)/.exec(line) ?? [];
      if (mark !== undefined) fence = fence === undefined ? mark : undefined;
      else if (fence !== undefined && /^```(sh|bash|console|yaml|$)/.test(fence))
        for (const [, text = ''] of line.matchAll(/(?:^|[|$:] |- )\s*(?:npx )?(verbs [a-z-].*?)(?= \| |$)/g))
          lines.push({ where, text, mention: false });
      else if (fence === undefined)
        for (const [, text = ''] of line.matchAll(/`(?:npx )?(verbs [a-z-][^`]*)`/g))
          lines.push({ where, text, mention: true });
    });
  return lines;
}

function examplesOf(command: Command, name: string): Line[] {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  const own = help
    .split('\n')
    .flatMap((line) => /^ {2}(?:.* \| )?(verbs .*?)(?: {2,}.*)?$/.exec(line)?.[1] ?? [])
    .map((text) => ({ where: `${name} --help`, text, mention: false }));
  return [...own, ...command.commands.flatMap((each) => examplesOf(each, `${name} ${each.name()}`))];
}

describe('every line with the verbs command', () => {
  it('of the documents is taken by the command line', () => {
    const list = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    const lines = list
      .split('\n')
      .filter((file) => file !== '' && !/CHANGELOG\.md$|^\.changeset\//.test(file))
      .flatMap(linesOf);
    expect(lines.length).toBeGreaterThan(50);
    expect(lines.map((line) => [line.where, line.text, problem(line)]).filter(([, , why]) => why)).toEqual([]);
  });

  it('of the help is taken by it, too', () => {
    const examples = examplesOf(createProgram(), 'verbs');
    expect(examples.length).toBeGreaterThan(20);
    expect(examples.map((line) => [line.where, line.text, problem(line)]).filter(([, , why]) => why)).toEqual([]);
  });

  it('that is wrong is noticed', () => {
    const wrong = ['verbs nonsense', 'verbs devices --nonsense', 'verbs perf lat recv', 'verbs top -i x'];
    for (const text of wrong) expect(problem({ where: '', text, mention: true })).toBeTypeOf('string');
    expect(problem({ where: '', text: 'verbs capture -- true', mention: false })).toBeTypeOf('string');
  });
});
