import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasHeaders, headerVersion } from '../src/node-headers.mjs';

const versionHeader = (version: string) => {
  const [major = '', minor = '', patch = ''] = version.split('.');
  return `#define NODE_MAJOR_VERSION ${major}\n#define NODE_MINOR_VERSION ${minor}\n#define NODE_PATCH_VERSION ${patch}\n`;
};

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'verbs-setup-'));
  mkdirSync(join(directory, 'include/node'), { recursive: true });
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

describe('headerVersion', () => {
  it('reads node_version.h', () => {
    expect(headerVersion(versionHeader('20.19.6'))).toBe('20.19.6');
  });
});

describe('hasHeaders', () => {
  it('takes the headers of the running Node', () => {
    writeFileSync(join(directory, 'include/node/node.h'), '');
    writeFileSync(join(directory, 'include/node/node_version.h'), versionHeader(process.versions.node));
    expect(hasHeaders(directory)).toBe(true);
  });

  it('refuses those of another release', () => {
    writeFileSync(join(directory, 'include/node/node.h'), '');
    writeFileSync(join(directory, 'include/node/node_version.h'), versionHeader('18.0.0'));
    expect(hasHeaders(directory)).toBe(false);
  });

  it('refuses an empty folder', () => {
    expect(hasHeaders(directory)).toBe(false);
  });
});
