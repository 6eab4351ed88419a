import { defineConfig } from 'tsup';
import { program } from '../../tsup.base.ts';

export default defineConfig({
  ...program,
  entry: [
    'src/demo.ts',
    'src/file-transfer.ts',
    'src/comm-file.ts',
    'src/comm/index.ts',
    'src/frames/index.ts',
    'src/meeting/index.ts',
    'src/pcapng/index.ts',
    'src/reformat/index.ts',
    'src/tunnel/index.ts',
  ],
});
