import { Argument, Command } from 'commander';
import { bashScript } from '../manual/bash.js';
import { modelOf } from '../manual/command-model.js';
import { fishScript } from '../manual/fish.js';
import { zshScript } from '../manual/zsh.js';
import { printText } from '../output.js';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
const SHELLS = Object.keys(SCRIPTS) as (keyof typeof SCRIPTS)[];

export function completionCommand(): Command {
  return new Command('completion')
    .description('print the script by which a shell completes the words of verbs')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
Examples:
  verbs completion bash > ~/.local/share/bash-completion/completions/verbs
  verbs completion fish > ~/.config/fish/completions/verbs.fish
  verbs completion zsh > ~/.zfunc/_verbs

For bash the folder belongs to the package bash-completion; without it, "source" the script in ~/.bashrc. For zsh ~/.zshrc
has "fpath+=~/.zfunc" before "compinit". It completes commands, options and their values, and the words of the program
behind "verbs run".`,
    )
    .action((shell: keyof typeof SCRIPTS, _options: unknown, command: Command) => {
      printText(process.stdout, SCRIPTS[shell](modelOf(command.parent ?? command)));
    });
}
