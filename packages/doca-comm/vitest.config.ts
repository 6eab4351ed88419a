import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { links } from '../../vitest.links.ts';

// Services are found by their names, and each name is there once in a directory.
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
  },
});
(config['test'] as { projects: unknown[] }).projects.push(
  overComch('comch', 'shm', `${moving},${others}`),
  overComch('comch-udp', 'udp', moving),
);

export default config;
