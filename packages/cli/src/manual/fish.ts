import {
  type ArgumentModel,
  type CommandModel,
  type OptionModel,
  type Value,
  withSubcommands,
} from './command-model.js';

/** A script for fish 3 and later: a file of its folder `completions` with the name `verbs.fish`, or sourced. */
export function fishScript(root: CommandModel): string {
  const all = withSubcommands(root);
  const branches = all.map(({ path, commands, options }) => {
    const valued = options.flatMap(({ names, value }) => (value === undefined ? [] : names));
    return `    case '${path}'
      set -g __verbs_commands ${commands.map(({ name }) => name).join(' ')}
      set -g __verbs_valued ${valued.map(quoted).join(' ')}
      set -g __verbs_runs ${hasProgram(all, path) ? 'yes' : 'no'}`;
  });
  return `# Completion of fish for ${root.name}: written by "${root.name} completion fish".

# What the command $argv[1] takes.
function __verbs_takes
  switch $argv[1]
${branches.join('\n')}
  end
end

${FUNCTIONS}
complete -c verbs -f
${all.flatMap(lines).join('\n')}
`;
}

const hasProgram = (all: readonly CommandModel[], path: string) =>
  all.find((each) => each.path === path)?.arguments.some(({ value }) => value.kind === 'program') === true;

/** `__verbs_look` finds the command of the line, the place of the argument, and where a program of the user begins. */
const FUNCTIONS = `function __verbs_look
  set -l words (commandline -opc)
  set -g __verbs_path verbs
  set -g __verbs_place 1
  set -g __verbs_program
  __verbs_takes verbs
  set -l value no
  set -l ended no
  for i in (seq 2 (count $words))
    set -l word $words[$i]
    if test $value = yes
      set value no
    else if test $ended = no; and test "$word" = --
      set ended yes
    else if test $ended = no; and string match -qr -- '^-.' $word
      if contains -- $word $__verbs_valued
        set value yes
      end
    else if contains -- $word $__verbs_commands
      set __verbs_path "$__verbs_path $word"
      __verbs_takes $__verbs_path
    else if test $__verbs_runs = yes
      set __verbs_program $words[$i..-1]
      return
    else
      set __verbs_place (math $__verbs_place + 1)
    end
  end
end

function __verbs_at
  __verbs_look
  test "$__verbs_path" = $argv[1]; and test -z "$__verbs_program"
end

function __verbs_argument
  __verbs_at $argv[1]; and test $__verbs_place -ge $argv[2] -a $__verbs_place -le $argv[3]
end

function __verbs_in_program
  __verbs_look
  test -n "$__verbs_program"
end

function __verbs_words_of_program
  complete -C (string join ' ' -- (string escape -- $__verbs_program) (commandline -ct))
end

function __verbs_devices
  verbs devinfo --list 2>/dev/null | string match -r '^\\t.*' | string trim
end

complete -c verbs -n __verbs_in_program -x -a '(__verbs_words_of_program)'`;

/** An argument that may be given again and again. */
const MANY = 1000;

function lines({ path, options, arguments: args, commands }: CommandModel): string[] {
  const at = `-n '__verbs_at "${path}"'`;
  return [
    ...options.map((option) => `complete -c verbs ${at} ${optionWords(option)}`),
    ...commands.map(({ name, description }) => `complete -c verbs ${at} -a ${name} -d ${quoted(description)}`),
    ...args.flatMap((argument, i) => argumentLine(path, argument, i + 1)),
  ];
}

function optionWords({ names, description, value }: OptionModel): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  return [...flags, ...(value === undefined ? [] : [actionOf(value)]), '-d', quoted(description)].join(' ');
}

function argumentLine(path: string, { name, variadic, value }: ArgumentModel, place: number): string[] {
  if (value.kind === 'text') return [];
  const condition = `-n '__verbs_argument "${path}" ${place} ${variadic ? MANY : place}'`;
  return [`complete -c verbs ${condition} ${actionOf(value)} -d ${quoted(name)}`];
}

function actionOf(value: Value): string {
  switch (value.kind) {
    case 'choices':
      return `-x -a ${quoted(value.choices.join(' '))}`;
    case 'file':
      return '-r -F';
    case 'directory':
      return "-x -a '(__fish_complete_directories (commandline -ct))'";
    case 'device':
      return "-x -a '(__verbs_devices)'";
    case 'host':
      return "-x -a '(__fish_print_hostnames)'";
    case 'program':
      return "-x -a '(__fish_complete_command)'";
    case 'text':
      return '-x';
  }
}

const quoted = (text: string) => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
