/**
 * A shell script that runs a command with its directory and with what it may want of the environment.
 * @param {string[]} command
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, keepInput?: boolean }} options keepInput: it reads the script's input
 */
export function commandScript(command, { cwd, env, keepInput = false }) {
  const kept = Object.entries(env).filter(([name]) => /^(HOME|LANG|VERBS_\w*|NODE_\w*|NO_COLOR|TZ)$/.test(name));
  const lines = kept.map(([name, value = '']) => `export ${name}=${quoted(value)}`);
  const input = keepInput ? '' : ' < /dev/null';
  return [...lines, `cd ${quoted(cwd)}`, `exec ${command.map(quoted).join(' ')}${input}`, ''].join('\n');
}

/**
 * One word for the shell, whatever is in it.
 * @param {string} word
 */
function quoted(word) {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
