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
  entry: [...rooms.map((room) => `src/${room}/index.ts`), 'src/packets/explain.ts'],
});
