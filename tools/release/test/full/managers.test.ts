// Every package manager, every release line of Node, both kinds of modules, and every resolution of TypeScript.
import { readdirSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { nodeProgram, releases } from '../../../setup/src/node-releases.mjs';
import { managers } from '../../src/managers.mjs';
import { commonJs, HELLO, HELLO_OUTPUT } from '../hello.js';
import { Project } from '../project.js';
import { compileTypes, type Resolution } from '../types.js';

const { packages, registry } = inject('published');
const PATIENCE = 300_000;

describe.each(managers)('$name', (manager) => {
  let project: Project;

  beforeAll(() => {
    project = new Project(registry, manager);
    const ended = project.install(...packages.map(({ name }) => name));
    if (ended.code !== 0) throw new Error(`${manager.name} ends with ${ended.code}: ${ended.stdout}${ended.stderr}`);
  }, PATIENCE);
  afterAll(() => {
    project.remove();
  });

  test('installs all packages, and one copy of @verbs/core', () => {
    expect(readdirSync(join(project.folder, 'node_modules/@verbs')).sort()).toEqual(
      packages.map(({ name }) => name.replace('@verbs/', '')).sort(),
    );
    const core = realpathSync(project.installed('@verbs/core'));
    for (const { name } of packages.filter((each) => !['@verbs/core', '@verbs/soft'].includes(each.name))) {
      const seen = createRequire(realpathSync(project.installed(name, 'package.json'))).resolve(
        '@verbs/core/package.json',
      );
      expect([name, join(realpathSync(seen), '..')]).toEqual([name, core]);
    }
  });

  test.each(releases)(
    'the example of core runs on Node %s, as a module and by require',
    (version) => {
      const node = nodeProgram(version);
      for (const [file, text] of [
        ['hello.mjs', HELLO],
        ['hello.cjs', commonJs(HELLO)],
      ] as const) {
        const ended = project.program(node, [project.write(file, text)]);
        expect([file, ended]).toEqual([file, { code: 0, stdout: HELLO_OUTPUT, stderr: '' }]);
      }
    },
    PATIENCE,
  );

  test.each<Resolution>(['nodenext', 'node16', 'bundler'])(
    'strict TypeScript compiles with the resolution %s',
    (resolution) => {
      expect(compileTypes(project, packages, resolution)).toEqual({ code: 0, stdout: '', stderr: '' });
    },
    PATIENCE,
  );

  test('the command finds the models of all packages', () => {
    const cli = realpathSync(project.installed('@verbs/cli', 'bin/verbs.mjs'));
    const devices = project.node([cli, 'devices']);
    expect(devices).toMatchObject({ code: 0, stderr: '' });
    expect(devices.stdout).toMatch(/models for the software NIC: doca, hbl, mlx5/);
  });
});
