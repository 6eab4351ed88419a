import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileFailure, Failure } from '@verbs/lib/failure';
import { Command } from 'commander';
import { type CommandModel, modelOf } from '../manual/command-model.js';
import { documented, manPage, pageName } from '../manual/man-page.js';
import { note, printText } from '../output.js';
import { plural } from '../text.js';

export function manCommand(): Command {
  return new Command('man')
    .description('show the manual page of a command, or write them all')
    .argument('[command...]', 'the command; without it, verbs itself')
    .option('-o, --output <directory>', 'write all pages into this folder')
    .addHelpText(
      'after',
      `
Examples:
  verbs man run
  verbs man comm serve
  verbs man -o ~/.local/share/man/man1     where man(1) finds them
  verbs man run > verbs-run.1              the source, for all but a terminal

"npm install -g @verbs/cli" installs the pages, too: "man verbs-run".`,
    )
    .action((words: string[], { output }: { output?: string }, command: Command) => {
      const program = command.parent ?? command;
      const root = modelOf(program);
      const version = program.version() ?? '';
      if (output === undefined) show(manPage(find(root, words), root, version));
      else if (words.length === 0) writeAll(root, version, output);
      else throw new Failure('--output writes all pages', { hint: 'leave the command out', exitCode: 2 });
    });
}

function find(root: CommandModel, words: readonly string[]): CommandModel {
  const path = [root.name, ...words].join(' ');
  const all = documented(root);
  const found = all.find((each) => each.path === path);
  if (found !== undefined) return found;
  throw new Failure(`there is no command "${path}"`, {
    hint: `there are ${all
      .map((each) => each.path.slice(root.name.length + 1))
      .filter(Boolean)
      .join(', ')}`,
    exitCode: 2,
  });
}

/** On a terminal by man(1), which asks the reader's own pager. */
function show(page: string): void {
  if (!process.stdout.isTTY) {
    printText(process.stdout, page);
    return;
  }
  const { error } = spawnSync('man', ['-l', '-'], { input: page, stdio: ['pipe', 'inherit', 'inherit'] });
  if (error !== undefined)
    throw new Failure('man(1) cannot be started', { hint: 'apt-get install man-db, or --help instead', cause: error });
}

function writeAll(root: CommandModel, version: string, directory: string): void {
  const pages = documented(root);
  try {
    mkdirSync(directory, { recursive: true });
    for (const page of pages) writeFileSync(join(directory, `${pageName(page)}.1`), manPage(page, root, version));
  } catch (error) {
    throw fileFailure(`the pages cannot be written to ${directory}`, error);
  }
  note(`${directory}: ${plural(pages.length, 'page')}`);
}
