import { defineConfig } from 'tsup';
import { program } from '../../tsup.base.ts';

export default defineConfig({
  ...program,
  // A development dependency, which would be bundled: it finds its binary beside itself.
  external: ['zeromq'],
  entry: [
    'src/main.ts',
    'src/awaited/main.ts',
    'src/messages/comch-bulk.ts',
    'src/messages/comm-channel.ts',
    'src/messages/message-port.ts',
    'src/messages/mpi.ts',
    'src/messages/socket.ts',
    'src/messages/socket-port.ts',
    'src/messages/writes.ts',
    'src/messages/zeromq.ts',
    'src/rc/local.ts',
    'src/rc/processes.ts',
  ],
});
