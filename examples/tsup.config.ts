import { defineConfig } from 'tsup';
import { program } from '../tsup.base.ts';

export default defineConfig({
  ...program,
  entry: {
    demo: 'src/demo.ts',
    'file-transfer': 'src/file-transfer.ts',
    'comm-file': 'src/comm-file.ts',
    // For a Node.js that does not run TypeScript.
    'programs/comm-rpc': 'programs/comm-rpc.ts',
    'programs/hbl-encap': 'programs/hbl-encap.ts',
    'programs/kv-read': 'programs/kv-read.ts',
    'programs/rc-echo': 'programs/rc-echo.ts',
    'programs/ud-service': 'programs/ud-service.ts',
    'programs/vxlan-pipeline': 'programs/vxlan-pipeline.ts',
  },
});
