import { defineConfig } from 'tsup';
import { library } from '../../tsup.base.ts';

export default defineConfig({
  ...library,
  entry: {
    index: 'src/index.ts',
    provider: 'src/provider/index.ts',
    rendezvous: 'src/rendezvous/index.ts',
    stream: 'src/stream/index.ts',
  },
  // In CommonJS too: both entries share the classes and the state of the modules.
  splitting: true,
  // By rollup. Without it the CommonJS files come from a converter that turns each `??` and `?.` into a call.
  treeshake: true,
});
