import type { Options } from 'tsup';

/** A library that both `import` and `require` find, with types for each. */
export const library: Options = {
  entry: ['src/index.ts'],
  format: ['esm', 'cjs'],
  // Gives the ESM output __dirname and the CJS output import.meta.url, for finding the addon beside dist/.
  shims: true,
  // The declaration step passes baseUrl, which TypeScript 6 calls deprecated.
  dts: { compilerOptions: { ignoreDeprecations: '6.0' } },
  target: 'node20',
  sourcemap: true,
  clean: true,
};

/** A program: ESM only, nobody imports it. */
export const program: Options = {
  entry: ['src/main.ts'],
  format: ['esm'],
  target: 'node20',
  sourcemap: true,
  clean: true,
};
