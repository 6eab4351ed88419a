import { readFileSync, writeFileSync } from 'node:fs';
import type { Options } from 'tsup';

type Plugin = NonNullable<Options['plugins']>[number];

/**
 * A package ships its `src/` once, for debuggers and stack traces, not once in the maps of either module format.
 * A map keeps the text of what is bundled from elsewhere alone.
 */
const mapsBesideSources: Plugin = {
  name: 'maps-beside-sources',
  buildEnd({ writtenFiles }) {
    for (const { name } of writtenFiles.filter((file) => file.name.endsWith('.map'))) {
      const map = JSON.parse(readFileSync(name, 'utf8')) as { sources: string[]; sourcesContent?: (string | null)[] };
      map.sourcesContent = map.sources.map((source, at) =>
        source.startsWith('../src/') ? null : (map.sourcesContent?.[at] ?? null),
      );
      writeFileSync(name, JSON.stringify(map));
    }
  },
};

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
  plugins: [mapsBesideSources],
  clean: true,
};

/** A program: ESM only, nobody imports it. */
export const program: Options = {
  entry: ['src/main.ts'],
  format: ['esm'],
  target: 'node20',
  sourcemap: true,
  plugins: [mapsBesideSources],
  clean: true,
};
