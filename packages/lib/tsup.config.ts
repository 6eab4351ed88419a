import { defineConfig } from 'tsup';
import { program } from '../../tsup.base.ts';

const rooms = [
  'capture-files',
  'comm',
  'failure',
  'files',
  'packets',
  'rc',
  'reformat',
  'rendezvous',
  'text',
  'tunnel',
];

export default defineConfig({
  ...program,
  // Nobody ships its src/: the maps of the command take the text from these.
  plugins: [],
  entry: [...rooms.map((room) => `src/${room}/index.ts`), 'src/packets/explain.ts'],
});
