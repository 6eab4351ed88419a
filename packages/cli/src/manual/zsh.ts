import {
  type ArgumentModel,
  type CommandModel,
  type OptionModel,
  type Value,
  withSubcommands,
} from './command-model.js';

/** A script for zsh: a file of its `fpath` with the name `_verbs`, or sourced after `compinit`. */
export function zshScript(root: CommandModel): string {
  const { name } = root;
  const all = withSubcommands(root);
  const paths = all.slice(1).map(({ path }) => quoted(path));
  const calls = all.map(({ path }) => `  ${quoted(path)}) ${functionName(path)} ;;`);
  return `#compdef ${name}
# Completion of zsh for ${name}: written by "${name} completion zsh".

_${name}__device_names() {
  local -a devices=(\${(f)"$(${name} devinfo --list 2>/dev/null | sed -n 's/^\\t//p')"})
  compadd -a devices
}

${all.map(functionOf).join('\n\n')}

_${name}() {
  local path_of_command=${name}
  local -a paths=(${paths.join(' ')})
  # What is before the command's own words goes away: its function sees the others.
  while ((CURRENT > 2)) && ((paths[(Ie)$path_of_command $words[2]])); do
    path_of_command="$path_of_command $words[2]"
    shift words
    ((CURRENT--))
  done
  case $path_of_command in
${calls.join('\n')}
  esac
}

# In a file of fpath it is called for the first completion; sourced, it says what it is for.
if [[ $funcstack[1] == _${name} ]]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

/** `_verbs__comm_serve`: no name of a helper. */
const functionName = (path: string) =>
  `_${path.replace(' ', '__').replaceAll(' ', '_')}${path.includes(' ') ? '' : '__'}`;

function functionOf({ path, options, arguments: args, commands }: CommandModel): string {
  const list = commands.map(({ name, description }) => `\n    ${quoted(`${name}:${description}`)}`);
  const specs = [
    ...options.map(optionSpec),
    ...(commands.length > 0 ? ['"1: :{_describe command commands}"'] : args.map(argumentSpec)),
  ];
  const known = commands.length > 0 ? `  local -a commands=(${list.join('')}\n  )\n` : '';
  return `${functionName(path)}() {
${known}  _arguments -s -S ${specs.map((spec) => `\\\n    ${spec}`).join(' ')}
}`;
}

function optionSpec({ names, description, value }: OptionModel): string {
  const text = `[${description.replaceAll(/[[\]\\]/g, '\\$&')}]`;
  const action = value === undefined ? '' : `:${colons(value.term.slice(1, -1))}:${actionOf(value)}`;
  const specs = names.map((name) => `${name}${value === undefined ? '' : name.startsWith('--') ? '=' : '+'}`);
  const [only] = specs;
  if (specs.length === 1 && only !== undefined) return quoted(`${only}${text}${action}`);
  return `${quoted(`(${names.join(' ')})`)}{${specs.join(',')}}${quoted(`${text}${action}`)}`;
}

function argumentSpec({ name, term, variadic, value }: ArgumentModel, place: number): string {
  if (value.kind === 'program') return quoted(`(-)${place + 1}:${name}:_command_names -e`);
  // Behind a program there are its own words.
  if (name === 'arguments') return quoted(`*::${name}:_normal`);
  const optional = term.startsWith('[') ? ':' : '';
  // A message alone would keep the shell from inserting an option.
  const action = value.kind === 'text' ? `_guard "^-*" ${name}` : actionOf(value);
  return quoted(`${variadic ? '*' : place + 1}:${optional}${colons(name)}:${action}`);
}

function actionOf(value: Value): string {
  switch (value.kind) {
    case 'choices':
      return `(${value.choices.join(' ')})`;
    case 'file':
      return '_files';
    case 'directory':
      return '_files -/';
    case 'device':
      return '_verbs__device_names';
    case 'host':
      return '_hosts';
    case 'program':
      return '_command_names -e';
    case 'text':
      return ' ';
  }
}

const colons = (text: string) => text.replaceAll(':', '\\:');
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
