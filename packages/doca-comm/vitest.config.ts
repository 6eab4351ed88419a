import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Files, links } from '../../vitest.links.ts';

// Each file has a directory in there.
const directory = mkdtempSync(join(tmpdir(), 'verbs-doca-comm-test-'));
process.once('exit', () => {
  rmSync(directory, { recursive: true, force: true });
});
const env = { XDG_RUNTIME_DIR: directory, VERBS_DOCA_API: 'comm-channel' };

const moving: Files = {
  together: ['test/{endpoint,farewell,network-namespaces,service,two-processes}.test.ts'],
  apart: ['test/{killed-peers,lifetimes}.test.ts'],
};
const overComch: Files = {
  together: ['test/comch/{control-path,fast-path}.test.ts'],
  apart: ['test/comch/{hostile-calls,lifetimes}.test.ts'],
};
// What endpoints do, they do over Comch as well.
const others: Files = {
  together: ['test/inspect.test.ts'],
  apart: ['test/{background,hostile-calls,idle,limits,native-calls,spin}.test.ts'],
};
const all = (...files: Files[]): Files => ({
  together: files.flatMap(({ together }) => together),
  apart: files.flatMap(({ apart }) => apart),
});

const config = links({
  moving: all(moving, overComch),
  apart: [
    ...others.apart,
    'test/{comch-scale,configuration,libraries,newer-doca,old-release,threads}.test.ts',
    'test/comch/hostile-sequences.test.ts',
  ],
  env,
});

const { projects } = config['test'] as {
  projects: { test: { setupFiles: string[]; sequence: { groupOrder: number } } }[];
};
for (const [name, link, files] of [
  ['comch', 'shm', all(moving, others)],
  ['comch-udp', 'udp', moving],
] as const) {
  for (const [part, include] of Object.entries(files) as [keyof Files, string[]][]) {
    const test = {
      name: part === 'apart' ? `${name} apart` : name,
      include,
      isolate: part === 'apart',
      sequence: { groupOrder: projects.length },
      env: { VERBS_SOFT_LINK: link, ...env, VERBS_DOCA_API: 'comch' },
      setupFiles: [],
    };
    projects.push({ extends: true, test } as (typeof projects)[number]);
  }
}
for (const { test } of projects) test.setupFiles = [...test.setupFiles, 'test/helpers/own-directory.ts'];

export default config;
