import { defineConfig } from 'tsup';
import { program } from '../../tsup.base.ts';

export default defineConfig([
  // @verbs/lib is not published: its code becomes part of the command.
  { ...program, noExternal: ['@verbs/lib'] },
  // The script of the page that `verbs show` writes, which is inlined there.
  {
    entry: { ladder: 'browser/main.ts' },
    format: ['iife'],
    platform: 'browser',
    target: 'es2022',
    minify: true,
    noExternal: [/./],
    // The first configuration empties the folder.
    clean: false,
  },
]);
