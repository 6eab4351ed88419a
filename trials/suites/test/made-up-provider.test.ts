// A provider is a folder: one that nobody has heard of, made from the recipe of CONTRIBUTING.md, is everywhere where the
// project's own providers are. Its devices are in `verbs devices`, `doctor` and `run` of a project that depends on it, and
// its suites, targets and pages in the lists of a checkout that has it in packages/.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { root } from '../../../tools/setup/src/paths.mjs';

let checkout: string;
let project: string;
const made: string[] = [];
const temporary = (name: string) => {
  const folder = mkdtempSync(join(tmpdir(), name));
  made.push(folder);
  return folder;
};

/** Its module: what each build begins with, and what both have. */
const BUILDS = {
  'index.js': `
import { join } from 'node:path';
import { addDevices, deviceNames } from '@verbs/soft';
const lib = join(import.meta.dirname, '../build/lib');`,
  'index.cjs': `
const { join } = require('node:path');
const { addDevices, deviceNames } = require('@verbs/soft');
const lib = join(__dirname, '../build/lib');`,
};
const BODY = `
const softModel = { kind: 'acme', library: join(lib, 'libacme_model.so'), dropIn: join(lib, 'dropin') };
function listDevices() {
  if (!deviceNames().includes('acme_soft0')) addDevices('acme_soft0,kind=acme,model=' + softModel.library);
  return [];
}
const vendorLibrary = () => ({ name: 'libacme', text: 'missing', hardware: 'an Anvil', devices: 'acme_' });
`;
const NAMES = '{ softModel, listDevices, vendorLibrary }';

beforeAll(() => {
  checkout = temporary('verbs-provider-checkout-');
  for (const folder of ['tools', 'trials/suites']) {
    cpSync(join(root, folder), join(checkout, folder), {
      recursive: true,
      filter: (path) => !/\/(node_modules|test-results|build)$/.test(path),
    });
  }
  for (const folder of ['trials', 'examples/apps']) mkdirSync(join(checkout, folder), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
  const acme = join(checkout, 'packages/acme');
  mkdirSync(acme, { recursive: true });
  for (const name of readdirSync(join(root, 'packages'))) {
    symlinkSync(join(root, 'packages', name), join(checkout, 'packages', name));
  }
  fill(acme);

  project = temporary('verbs-provider-project-');
  write(project, 'package.json', JSON.stringify({ name: 'project', dependencies: { '@verbs/acme': '*' } }));
  mkdirSync(join(project, 'node_modules/@verbs'), { recursive: true });
  symlinkSync(acme, join(project, 'node_modules/@verbs/acme'));
}, 60_000);
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true });
});

function write(folder: string, file: string, text: string) {
  mkdirSync(join(folder, file, '..'), { recursive: true });
  writeFileSync(join(folder, file), text);
}

/** The package: what the recipe says, with its model in C, and an addon without functions. */
function fill(acme: string) {
  const recipe = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  write(acme, 'native/model/acme.c', /```c\n(#include <errno\.h>\n[\s\S]*?)```/.exec(recipe)?.[1] ?? '');
  write(
    acme,
    'native/binding/addon.c',
    'void *napi_register_module_v1(void *env, void *exports) { (void)env; return exports; }\n',
  );
  mkdirSync(join(acme, 'build/lib/dropin'), { recursive: true });
  const compile = (source: string, to: string) =>
    execFileSync('cc', ['-shared', '-fPIC', `-I${root}/packages/soft/native/include`, '-o', to, join(acme, source)]);
  compile('native/model/acme.c', join(acme, 'build/lib/libacme_model.so'));
  compile('native/binding/addon.c', join(acme, 'build/lib/acme.node'));
  symlinkSync('../libacme_model.so', join(acme, 'build/lib/dropin/libacme.so.1'));
  mkdirSync(join(acme, 'node_modules/@verbs'), { recursive: true });
  symlinkSync(join(root, 'packages/soft'), join(acme, 'node_modules/@verbs/soft'));
  write(acme, 'dist/index.js', `${BUILDS['index.js']}${BODY}export ${NAMES};`);
  write(acme, 'dist/index.cjs', `${BUILDS['index.cjs']}${BODY}module.exports = ${NAMES};`);
  write(acme, 'native/fuzz/anvil_target.cc', '');
  write(acme, 'themes.json', JSON.stringify({ anvil: 'Anvils' }));
  const manifest = {
    name: '@verbs/acme',
    version: '1.2.3',
    type: 'module',
    exports: {
      '.': { import: { default: './dist/index.js' }, require: { default: './dist/index.cjs' } },
      './package.json': './package.json',
    },
    peerDependencies: { '@verbs/core': '*', '@verbs/soft': '*' },
    verbs: { kind: 'acme', devices: 'acme_', sanitize: { address: ['anvil'] } },
  };
  write(acme, 'package.json', JSON.stringify(manifest));
}

function verbs(...args: string[]) {
  const env: NodeJS.ProcessEnv = { ...process.env, VERBS_SOFT: '' };
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(root, 'packages/cli/bin/verbs.mjs'), ...args], {
    cwd: project,
    encoding: 'utf8',
    env,
  });
  return { text: stdout + stderr, status };
}

function inCheckout(...args: string[]) {
  return execFileSync(process.execPath, args, { cwd: checkout, encoding: 'utf8' });
}

it('is in verbs devices, with its default device', () => {
  const { text } = verbs('devices');
  expect(text).toMatch(/^ +acme_soft0\s.*\bsoft$/m);
  expect(text).toMatch(/models for the software NIC: acme, /);
});

it('is in verbs doctor, with its addon and the library of its vendor', () => {
  const { text } = verbs('doctor');
  expect(text).toContain('ok   @verbs/acme: 1.2.3, native part build/lib/acme.node');
  expect(text).toContain('ok   libacme: not here: needed for an Anvil only');
});

it('is what verbs run takes a device of its kind from', () => {
  const { text, status } = verbs('run', '--device', 'acme_soft0,kind=acme', '--', 'ibv_devinfo', '-d', 'acme_soft0');
  expect(text).toMatch(/vendor_id:\s+0xac3e/);
  expect(text).toMatch(/board_id:\s+ACME_SOFT/);
  expect(status).toBe(0);
});

it('opens by the name of its device, from a program that has never heard of it', () => {
  write(
    project,
    'open.mjs',
    "import { openDevice } from '@verbs/core'; console.log(openDevice('acme_soft0').device.name);",
  );
  symlinkSync(join(root, 'packages/core'), join(project, 'node_modules/@verbs/core'));
  symlinkSync(join(root, 'packages/soft'), join(project, 'node_modules/@verbs/soft'));
  const { stdout, stderr } = spawnSync(process.execPath, ['open.mjs'], { cwd: project, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout).toBe('acme_soft0\n');
});

it('has its suites with sanitizers, and its fuzz targets', () => {
  expect(inCheckout('trials/suites/sanitize.mjs', '--list')).toContain(': acme: anvil\n');
  expect(inCheckout('trials/suites/fuzz.mjs', '--help')).toMatch(/--target NAME.*\banvil\b/);
});

it('has its section in the site, behind the packages that are no vendors', () => {
  const program = `
    import { libraryPackages } from './tools/setup/src/packages.mjs';
    import { themeOrder } from './tools/site/src/themes.mjs';
    console.log(JSON.stringify({ names: libraryPackages().map(({ name }) => name), themeOrder }));`;
  const { names, themeOrder } = JSON.parse(inCheckout('--input-type=module', '-e', program)) as Record<
    string,
    string[]
  >;
  expect(names?.slice(0, 4)).toEqual(['@verbs/core', '@verbs/soft', '@verbs/rdmacm', '@verbs/acme']);
  expect(themeOrder).toContain('Anvils');
});
