import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Programs that run another one: their own name says nothing about what runs. */
const INTERPRETER = /^(node|nodejs|bun|deno|electron|python[\d.]*|pypy[\d.]*|perl[\d.]*|ruby[\d.]*|bash|dash|sh)$/i;
/** Options of theirs whose value is the next argument and can be a file, but is not the program. */
const WITH_VALUE =
  /^(-r|--require|--import|--loader|--experimental-loader|--env-file|--env-file-if-exists|--experimental-config-file)$/;
/** Options of theirs with a program instead of a file. */
const INLINE = /^(-c|-e|--eval|-p|--print|-)$/;
/** What newer versions of Node.js call the first thread, and so the process. */
const UNNAMED = /^(node-)?MainThread$/;

/**
 * What a person calls the process. For an interpreter, Node.js or Python for instance, that is the name of its script: the
 * first argument that is a file or a folder, or the module of Python's `-m`. For others, an interpreter without a script,
 * and one with a title of its own (`process.title`), it is `program`.
 *
 * @param program the name that the process has in `ps`
 */
export function processName(pid: number, program: string): string {
  const folder = `/proc/${pid}`;
  try {
    const interpreter = basename(readlinkSync(`${folder}/exe`).replace(/ \(deleted\)$/, ''));
    if (!INTERPRETER.test(interpreter)) return program;
    const [, ...args] = readFileSync(`${folder}/cmdline`, 'utf8').split('\0').slice(0, -1);
    return script(args, readlinkSync(`${folder}/cwd`)) ?? (UNNAMED.test(program) ? interpreter : program);
  } catch {
    // It ended, or the files are not for this user.
    return program;
  }
}

function script(args: readonly string[], cwd: string): string | undefined {
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? '';
    if (arg === '-m') return args[i + 1];
    if (INLINE.test(arg)) return undefined;
    if (WITH_VALUE.test(arg)) i++;
    else if (arg !== '' && !arg.startsWith('-')) {
      const path = arg.startsWith('/') ? arg : join(cwd, arg);
      // "node server" can mean server.js.
      if ([path, `${path}.js`].some((each) => statSync(each, { throwIfNoEntry: false }) !== undefined)) {
        return basename(path);
      }
    }
  }
  return undefined;
}
