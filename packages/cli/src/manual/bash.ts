import { type CommandModel, type Value, withSubcommands } from './command-model.js';

/** A script for bash 4 and later, which needs nothing else of it: not the package bash-completion, but uses that. */
export function bashScript(root: CommandModel): string {
  return `# Completion of bash for ${root.name}: written by "${root.name} completion bash".

# What the command $1 takes: its commands, its options, "OPTION=KIND" of those with a value, and the kinds of its arguments.
_${root.name}_takes() {
  case $1 in
${withSubcommands(root).map(branch).join('\n')}
  esac
}

${FUNCTIONS.replaceAll('VERBS', root.name)}`;
}

function branch({ path, commands, options, arguments: args }: CommandModel): string {
  const names = options.flatMap((option) => option.names);
  const valued = options.flatMap(({ names: each, value }) =>
    value ? each.map((name) => `${name}=${word(value)}`) : [],
  );
  const last = args.at(-1);
  const kinds = [...args.map(({ value }) => word(value)), ...(last?.variadic === true ? ['...'] : [])];
  return `  '${path}')
    commands='${commands.map(({ name }) => name).join(' ')}'
    options='${names.join(' ')}'
    valued=' ${valued.join(' ')} '
    arguments=(${kinds.join(' ')})
    ;;`;
}

const word = (value: Value) => (value.kind === 'choices' ? `:${value.choices.join(':')}` : value.kind);

const FUNCTIONS = `_VERBS_value() { # kind
  local IFS=$'\\n'
  case $1 in
  file)
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$cur"))
    ;;
  directory)
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -d -- "$cur"))
    ;;
  program)
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -c -- "$cur"; compgen -f -- "$cur"))
    ;;
  host) COMPREPLY=($(compgen -A hostname -- "$cur")) ;;
  device) COMPREPLY=($(compgen -W "$(VERBS devinfo --list 2>/dev/null | sed -n 's/^\\t//p')" -- "$cur")) ;;
  :*)
    local choices=\${1#:}
    COMPREPLY=($(compgen -W "\${choices//:/$'\\n'}" -- "$cur"))
    ;;
  esac
}

# The words from the place $1 on are those of another program.
_VERBS_program() {
  if declare -F _comp_command_offset >/dev/null; then
    _comp_command_offset "$1"
  elif declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif ((COMP_CWORD == $1)); then
    _VERBS_value program
  else
    _VERBS_value file
  fi
}

_VERBS() {
  local cur=\${COMP_WORDS[COMP_CWORD]} path=VERBS wanted= ended= place=0 i word
  local commands options valued arguments=()
  COMPREPLY=()
  _VERBS_takes "$path"
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    # bash takes "--option=value" for three words.
    if [[ $word == '=' ]]; then
      continue
    elif [[ -n $wanted ]]; then
      wanted=
    elif [[ -z $ended && $word == -- ]]; then
      ended=yes
    elif [[ -z $ended && $word == -?* ]]; then
      if [[ $valued == *" $word="* ]]; then
        wanted=\${valued#*" $word="}
        wanted=\${wanted%% *}
      fi
    elif [[ " $commands " == *" $word "* ]]; then
      path="$path $word"
      _VERBS_takes "$path"
    elif [[ \${arguments[place]} == program ]]; then
      _VERBS_program "$i"
      return
    else
      place=$((place + 1))
    fi
  done
  if [[ $cur == '=' ]]; then cur=; fi
  if [[ -n $wanted ]]; then
    _VERBS_value "$wanted"
  elif [[ -z $ended && $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
  elif [[ -n $commands ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$cur"))
  elif [[ \${arguments[place]} == program ]]; then
    _VERBS_program "$COMP_CWORD"
  else
    if [[ \${arguments[\${#arguments[@]} - 1]} == ... && place -ge \${#arguments[@]}-1 ]]; then place=$((\${#arguments[@]} - 2)); fi
    _VERBS_value "\${arguments[place]}"
  fi
}

complete -F _VERBS VERBS
`;
