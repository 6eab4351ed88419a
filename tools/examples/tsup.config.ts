import { defineConfig } from 'tsup';
import { program } from '../../tsup.base.ts';

export default defineConfig({
  ...program,
  entry: ['src/demo.ts', 'src/file-transfer.ts', 'src/comm-file.ts'],
});
