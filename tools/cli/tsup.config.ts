import { defineConfig } from 'tsup';
import { program } from '../../tsup.base.ts';

// The examples are not published; what the command shares with them becomes part of it.
export default defineConfig({ ...program, noExternal: ['@verbs/examples'] });
