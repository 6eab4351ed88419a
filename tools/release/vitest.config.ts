import { mergeConfig } from 'vitest/config';
import base from '../../vitest.base.ts';

/** `npm test` leaves out what fetches other package managers, releases of Node and Debian systems. */
const left = [
  ...(process.env['VERBS_PACKED_LONG'] === '1' ? [] : ['test/full/**', 'test/roots/**']),
  ...(process.env['VERBS_PACKED_ARM64'] === '1' ? [] : ['test/arm64/**']),
];

export default mergeConfig(base, {
  test: { globalSetup: ['test/published.ts'], exclude: left, testTimeout: 300_000, hookTimeout: 300_000 },
});
