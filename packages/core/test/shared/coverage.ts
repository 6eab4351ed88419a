import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../../../tools/check/api-coverage.mjs', import.meta.url));

/** The C functions of a package's library, and what is wrong with its list of them. @param folder the package's */
export function coverageOf(folder: URL): { functions: { name: string }[]; problems: string[] } {
  const output = execFileSync(process.execPath, [script, fileURLToPath(folder), '--json'], {
    encoding: 'utf8',
    stdio: 'pipe',
  });
  return JSON.parse(output) as { functions: { name: string }[]; problems: string[] };
}
