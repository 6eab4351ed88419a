import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { links } from '../../vitest.links.ts';

// Services are found by their names, and each name is there once in a directory.
export default links({
  both: ['test/{endpoint,farewell,killed-peers,lifetimes,network-namespaces,service,two-processes}.test.ts'],
  env: () => {
    const directory = mkdtempSync(join(tmpdir(), 'verbs-doca-comm-test-'));
    process.once('exit', () => {
      rmSync(directory, { recursive: true, force: true });
    });
    return { XDG_RUNTIME_DIR: directory };
  },
});
