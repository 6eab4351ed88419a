import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { links } from '../../vitest.links.ts';

/** Of a project. Each of its files has a directory in there. */
const env = () => {
  const directory = mkdtempSync(join(tmpdir(), 'verbs-doca-comm-test-'));
  process.once('exit', () => {
    rmSync(directory, { recursive: true, force: true });
  });
  return { XDG_RUNTIME_DIR: directory, VERBS_DOCA_API: 'comm-channel' };
};

const moving = 'endpoint,farewell,killed-peers,lifetimes,network-namespaces,service,two-processes';
const config = links({ both: [`test/{${moving}}.test.ts`, 'test/comch/*.test.ts'], env });

// What endpoints do, they do over Comch as well.
const others = 'background,hostile-calls,idle,inspect,limits,native-calls,spin';
const overComch = (name: string, link: string, files: string) => ({
  extends: true,
  test: {
    name,
    include: [`test/{${files}}.test.ts`],
    env: { VERBS_SOFT_LINK: link, ...env(), VERBS_DOCA_API: 'comch' },
    setupFiles: [],
  },
});
const { projects } = config['test'] as { projects: { test: { setupFiles: string[] } }[] };
projects.push(overComch('comch', 'shm', `${moving},${others}`), overComch('comch-udp', 'udp', moving));
for (const { test } of projects) test.setupFiles = [...test.setupFiles, 'test/helpers/own-directory.ts'];

export default config;
