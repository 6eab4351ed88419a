import type { Argument, Command, Option } from 'commander';

/** What a word of the command line may be. */
export type Value =
  | { kind: 'choices'; choices: readonly string[] }
  | { kind: 'file' | 'directory' | 'device' | 'host' | 'program' | 'text' };

export interface OptionModel {
  /** `-o` and `--output`: at least one. */
  names: string[];
  description: string;
  /** With its name, as the help writes it: `<file>`. */
  value?: Value & { term: string };
  /** What it is if it is left out. */
  preset?: string;
}

export interface ArgumentModel {
  name: string;
  /** As the usage writes it: `<program>`, `[arguments...]`. */
  term: string;
  description: string;
  variadic: boolean;
  value: Value;
  preset?: string;
}

/** A command as it describes itself: what completion and manual pages are made of. */
export interface CommandModel {
  /** `verbs comm serve` */
  path: string;
  name: string;
  description: string;
  usage: string;
  options: OptionModel[];
  arguments: ArgumentModel[];
  commands: CommandModel[];
  /** What its help says behind the options: examples and paragraphs. */
  notes: string;
}

/** What the names of values and arguments of all commands stand for; each other one is text. */
const KINDS: Readonly<Record<string, Exclude<Value['kind'], 'choices'>>> = {
  file: 'file',
  'page.html': 'file',
  capture: 'file',
  in: 'file',
  out: 'file',
  directory: 'directory',
  device: 'device',
  program: 'program',
};

/** `siblings`: the commands beside it. */
export function modelOf(command: Command, parent = '', siblings: readonly string[] = []): CommandModel {
  const path = `${parent} ${command.name()}`.trim();
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const names = commands.map((each) => each.name());
  return {
    path,
    name: command.name(),
    description: command.description(),
    usage: command.usage(),
    options: help.visibleOptions(command).map(optionOf),
    arguments: command.registeredArguments.map((each) => argumentOf(each, siblings)),
    commands: commands.map((each) => modelOf(each, path, names)),
    notes: notesOf(command),
  };
}

/** A command and all below it, from the top. */
export function withSubcommands(model: CommandModel): CommandModel[] {
  return [model, ...model.commands.flatMap(withSubcommands)];
}

function optionOf(option: Option): OptionModel {
  const { short, long, flags, description, argChoices } = option;
  const names = [short, long].filter((name) => name !== undefined);
  const [term, name = ''] = /<([^>]+)>/.exec(flags) ?? [];
  if (term === undefined) return { names, description };
  return { names, description, value: { ...valueOf(name, argChoices), term }, ...presetOf(option) };
}

function argumentOf(argument: Argument, siblings: readonly string[]): ArgumentModel {
  const { required, variadic, description, argChoices } = argument;
  const name = argument.name();
  const dots = variadic ? '...' : '';
  const term = required ? `<${name}${dots}>` : `[${name}${dots}]`;
  // `help` and `man` are about the other commands.
  const value: Value =
    name === 'command'
      ? { kind: 'choices', choices: siblings }
      : name === 'address'
        ? { kind: 'host' }
        : valueOf(name, argChoices);
  return { name, term, description, variadic, value, ...presetOf(argument) };
}

function presetOf({ defaultValue: value }: { defaultValue?: unknown }): { preset?: string } {
  return typeof value === 'string' || typeof value === 'number' ? { preset: String(value) } : {};
}

function valueOf(name: string, choices: readonly string[] | undefined): Value {
  return choices === undefined ? { kind: KINDS[name] ?? 'text' } : { kind: 'choices', choices };
}

/** The help without its first part, which is made of the rest of the model. */
function notesOf(command: Command): string {
  const before = { ...command.configureOutput() };
  let whole = '';
  command.configureOutput({ ...before, writeOut: (text) => (whole += text) });
  command.outputHelp();
  command.configureOutput(before);
  return whole.slice(command.helpInformation().length).trim();
}
