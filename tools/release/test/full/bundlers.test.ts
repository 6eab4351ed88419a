// A program that a bundler put into one file runs beside the installed packages, whether they are bundled or external.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { webpackFolder } from '../../src/webpack.mjs';
import { HELLO, HELLO_OUTPUT } from '../hello.js';
import { Project } from '../project.js';

const here = createRequire(import.meta.url);
/** Those that the project's own tools bring. */
const rollup = createRequire(here.resolve('tsup')).resolve('rollup');
const vite = createRequire(here.resolve('vitest/package.json')).resolve('vite/package.json');

const PATIENCE = 240_000;
let project: Project;
let webpack: string;

beforeAll(() => {
  project = new Project(inject('published').registry);
  expect(project.install('@verbs/core', '@verbs/soft')).toMatchObject({ code: 0 });
  webpack = webpackFolder();
  project.write('source.mjs', HELLO);
}, PATIENCE);
afterAll(() => {
  project.remove();
});

/** The text of a program that runs the bundler. */
const bundlers: Record<string, () => string> = {
  'rollup, packages external': () => `import { rollup } from '${join(rollup, '../../dist/es/rollup.js')}';
    const bundle = await rollup({ input: 'source.mjs', external: /^@verbs\\//, onwarn: (warning) => { throw warning; } });
    await bundle.write({ file: 'out/program.mjs', format: 'es' });`,
  'vite for a server, packages external': () => viteProgram('{}'),
  'vite for a server, everything bundled': () => viteProgram('{ noExternal: true }'),
  'webpack, packages external': () =>
    webpackProgram(`externalsType: 'module', externals: /^@verbs\\//, experiments: { outputModule: true }`, 'mjs'),
  'webpack, everything bundled': () => webpackProgram('', 'cjs'),
};

test.each(Object.keys(bundlers))(
  '%s',
  (name) => {
    const bundled = project.run('bundle.mjs', bundlers[name]?.() ?? '');
    expect([bundled.code, bundled.stderr]).toEqual([0, '']);
    const program = join(
      project.folder,
      name === 'webpack, everything bundled' ? 'out/program.cjs' : 'out/program.mjs',
    );
    expect(project.node([program])).toEqual({ code: 0, stdout: HELLO_OUTPUT, stderr: '' });
  },
  PATIENCE,
);

function viteProgram(ssr: string): string {
  return `import { build } from '${join(vite, '../dist/node/index.js')}';
    await build({
      configFile: false, logLevel: 'error', ssr: ${ssr},
      build: { ssr: 'source.mjs', outDir: 'out', target: 'node20',
        rollupOptions: { output: { format: 'es', entryFileNames: 'program.mjs' } } },
    });`;
}

function webpackProgram(settings: string, extension: 'mjs' | 'cjs'): string {
  return `import { createRequire } from 'node:module';
    const webpack = createRequire('${webpack}/')('webpack');
    webpack({
      mode: 'production', target: 'node20', entry: './source.mjs', ${settings}${settings === '' ? '' : ','}
      output: { path: process.cwd() + '/out', filename: 'program.${extension}', module: ${extension === 'mjs'} },
    }, (error, stats) => {
      if (error) throw error;
      if (stats.hasErrors() || stats.hasWarnings()) throw new Error(stats.toString());
    });`;
}
