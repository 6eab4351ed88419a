import { mergeConfig } from 'vitest/config';
import base from './vitest.base.ts';

export interface Links {
  /**
   * The files whose tests move data: they run over shared memory, over UDP and by messages within the process, side by
   * side. All others run once, over shared memory, since they see no link.
   */
  both: string[];
  /** What each of them must have of its own. */
  env?: (link: string) => Record<string, string>;
  /** Modules that a file runs after, over UDP. */
  beforeUdp?: string[];
}

/**
 * For packages whose programs talk to each other by the NIC. Both ends of a test may be in one process, which the default
 * would connect directly.
 */
export function links({ both, env = () => ({}), beforeUdp = [] }: Links) {
  const project = (link: string, include: string[]) => ({
    extends: true,
    test: {
      name: link,
      include,
      env: { VERBS_SOFT_LINK: link, ...env(link) },
      setupFiles: link === 'udp' ? beforeUdp : [],
    },
  });
  const { include, ...test } = base.test ?? {};
  const projects = [project('shm', include ?? []), project('udp', both), project('auto', both)];
  return mergeConfig({ ...base, test }, { test: { projects } });
}
