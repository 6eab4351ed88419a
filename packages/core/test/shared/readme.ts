import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A program of a package's README, and the output that the README shows for it. */
export interface ReadmeExample {
  program: string;
  output: string;
}

/**
 * @param folder the package's, with a slash at its end
 * @param index of the program and of the output; default the first
 */
export function readmeExample(folder: URL, index = 0): ReadmeExample {
  const readme = readFileSync(new URL('README.md', folder), 'utf8');
  const [, program = ''] = [...readme.matchAll(/```js\n([^]*?)```/g)][index] ?? [];
  const [, output = ''] = [...readme.matchAll(/```text\n([^]*?)```/g)][index] ?? [];
  return { program, output };
}

/**
 * Runs a program in a file below the package, so that it finds the package under its own name.
 *
 * @param devices the software devices, as VERBS_SOFT names them; default those without a configuration
 */
export function runBelow(
  folder: URL,
  program: string,
  devices?: string,
): { status: number | null; stdout: string; stderr: string } {
  const build = join(folder.pathname, 'build/readme');
  mkdirSync(build, { recursive: true });
  try {
    writeFileSync(join(build, 'example.mjs'), program);
    const env = { ...process.env };
    delete env['VERBS_SOFT'];
    if (devices !== undefined) env['VERBS_SOFT'] = devices;
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(build, 'example.mjs')], {
      env,
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  } finally {
    rmSync(build, { recursive: true });
  }
}
