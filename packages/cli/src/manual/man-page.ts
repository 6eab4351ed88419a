import { type CommandModel, withSubcommands } from './command-model.js';

/** The name of a command's page: `verbs-comm-serve`. */
export const pageName = ({ path }: CommandModel) => path.replaceAll(' ', '-');

/** The commands that have a page: all but `help`, which commander adds. */
export function documented(root: CommandModel): CommandModel[] {
  return withSubcommands(root).filter(({ name }) => name !== 'help');
}

/** A command's page in section 1, for man(1): everything that its help says. */
export function manPage(model: CommandModel, root: CommandModel, version: string): string {
  const { path, description, usage, options, arguments: args, commands, notes } = model;
  const { examples, paragraphs } = partsOf(notes);
  const described = args.filter((argument) => argument.description !== '');
  const others = documented(root).filter((each) => each !== model);
  const parts = [
    `.TH ${pageName(model).toUpperCase()} 1 "" "${root.name} ${version}" "${root.name}"`,
    '.SH NAME',
    `${text(pageName(model))} \\- ${text(description)}`,
    '.SH SYNOPSIS',
    `\\fB${text(path)}\\fR ${text(usage)}`,
    ...section(
      'DESCRIPTION',
      paragraphs.flatMap((each) => ['.PP', ...each]),
    ),
    ...section('COMMANDS', definitions(commands.map(({ name, description: what }) => [name, what]))),
    ...section(
      'ARGUMENTS',
      definitions(described.map(({ term, description: what, preset }) => [term, `${what}${remark([], preset)}`])),
    ),
    ...section(
      'OPTIONS',
      definitions(
        options.map(({ names, value, description: what, preset }) => {
          const choices = value?.kind === 'choices' ? value.choices : [];
          return [`${names.join(', ')}${value ? ` ${value.term}` : ''}`, `${what}${remark(choices, preset)}`];
        }),
      ),
    ),
    ...section(
      'EXAMPLES',
      examples.flatMap(([command, what]) => [
        ...(what === '' ? [] : ['.PP', text(what)]),
        '.RS 4',
        '.nf',
        text(command),
        '.fi',
        '.RE',
      ]),
    ),
    '.SH SEE ALSO',
    others.map((each) => `\\fB${text(pageName(each))}\\fR(1)`).join(',\n'),
  ];
  return `${parts.join('\n')}\n`;
}

/** What it may be, and what it is if it is left out. */
function remark(choices: readonly string[], preset: string | undefined): string {
  const parts = [choices.join(', '), preset === undefined ? '' : `default: ${preset}`].filter(Boolean);
  return parts.length === 0 ? '' : ` (${parts.join('; ')})`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`.SH ${title}`, ...lines];
}

function definitions(rows: readonly (readonly [string, string])[]): string[] {
  return rows.flatMap(([term, what]) => ['.TP', `\\fB${text(term)}\\fR`, text(what) || '\\&']);
}

/** The examples, with what each does, and the other paragraphs, whose tables keep their lines. */
function partsOf(notes: string): { examples: [string, string][]; paragraphs: string[][] } {
  const examples: [string, string][] = [];
  const paragraphs: string[][] = [];
  for (const block of notes.split(/\n{2,}/)) {
    const [first = '', ...lines] = block.split('\n');
    if (/^Examples?:$/.test(first)) {
      for (const line of lines) {
        const [, command = line.trim(), what = ''] = /^ *(\S.*?) {2,}(\S.*)$/.exec(line) ?? [];
        examples.push([command, what]);
      }
    } else if (first !== '') paragraphs.push(paragraphOf([first, ...lines]));
  }
  return { examples, paragraphs };
}

function paragraphOf(lines: readonly string[]): string[] {
  if (!lines.some((line) => line.startsWith(' '))) return lines.map(text);
  return ['.nf', ...lines.map(text), '.fi'];
}

/** Text is text: no request of roff at its beginning, no escape within it, and hyphens that a shell takes. */
function text(value: string): string {
  return value
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/, '\\&');
}
