import { defineConfig } from 'tsup';
import { program } from '../../tsup.base.ts';

export default defineConfig({
  ...program,
  entry: [
    'src/main.ts',
    'src/awaited/main.ts',
    'src/messages/comm-channel.ts',
    'src/messages/unix-socket.ts',
    'src/rc/local.ts',
    'src/rc/processes.ts',
  ],
});
