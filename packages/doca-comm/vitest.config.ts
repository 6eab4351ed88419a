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

const config = links({
  both: ['test/{endpoint,farewell,killed-peers,lifetimes,network-namespaces,service,two-processes}.test.ts'],
  env,
});

// What endpoints do, they do over Comch as well.
const names =
  'background,endpoint,farewell,hostile-calls,idle,inspect,killed-peers,lifetimes,limits,native-calls,network-namespaces,service,spin,two-processes';
(config['test'] as { projects: unknown[] }).projects.push({
  extends: true,
  test: {
    name: 'comch',
    include: [`test/{${names}}.test.ts`],
    env: { VERBS_SOFT_LINK: 'shm', ...env(), VERBS_DOCA_API: 'comch' },
  },
});

export default config;
