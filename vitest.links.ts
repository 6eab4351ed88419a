import { mergeConfig } from 'vitest/config';
import base from './vitest.base.ts';

/**
 * For packages whose programs talk to each other by the NIC: each test runs twice, over shared memory and over UDP.
 * Both ends of a test may be in one process, which the default would connect directly. The two run side by side; `env`
 * gives each what it must have of its own.
 */
export function links(env: (link: string) => Record<string, string> = () => ({})) {
  return mergeConfig(base, {
    test: {
      projects: ['shm', 'udp'].map((link) => ({
        extends: true,
        test: { name: link, env: { VERBS_SOFT_LINK: link, ...env(link) } },
      })),
    },
  });
}
