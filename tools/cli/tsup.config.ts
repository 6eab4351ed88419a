import { defineConfig } from 'tsup';
import { program } from '../../tsup.base.ts';

// @verbs/lib is not published: its code becomes part of the command.
export default defineConfig({ ...program, noExternal: ['@verbs/lib'] });
