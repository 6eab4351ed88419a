import { mergeConfig } from 'vitest/config';
import base from '../../vitest.base.ts';

/** `npm test` leaves out what fetches other package managers and releases of Node. */
const full = process.env['VERBS_PACKED_LONG'] === '1';

export default mergeConfig(base, {
  test: { globalSetup: ['test/published.ts'], exclude: full ? [] : ['test/full/**'] },
});
