import { mergeConfig } from 'vitest/config';
import base from './vitest.base.ts';

/** Files of tests. */
export interface Files {
  /** Those that look at the whole process, or change it: its objects, memory, devices, environment. Each has a process of its own. */
  apart: string[];
  /**
   * The others: they share the process of a worker, which saves a start for each. A file that crashes its process still ends
   * alone: the next one gets a new process.
   */
  together: string[];
}

export interface Links {
  /** The files whose tests move data: they run over shared memory, over UDP and by messages within the process. */
  moving: Files;
  /** The others, which see no link, run over shared memory only: these, and together all that are not named. */
  apart: string[];
  /** Their environment. */
  env?: Record<string, string>;
  /** Modules that a file runs after, over UDP. */
  beforeUdp?: string[];
}

/**
 * For packages whose programs talk to each other by the NIC. Both ends of a test may be in one process, which the default
 * would connect directly.
 */
export function links({ moving, apart, env = {}, beforeUdp = [] }: Links) {
  // A process goes on to the next file if that is one of the same project: so the projects come one after the other.
  let order = 0;
  const project = (name: string, link: string, files: { include: string[]; exclude?: string[]; isolate: boolean }) => ({
    extends: true,
    test: {
      name,
      ...files,
      sequence: { groupOrder: order++ },
      env: { VERBS_SOFT_LINK: link, ...env },
      setupFiles: link === 'udp' ? beforeUdp : [],
    },
  });
  const { include = [], ...test } = base.test ?? {};
  const alone = [...moving.apart, ...apart];
  const projects = [
    project('shm', 'shm', { include, exclude: alone, isolate: false }),
    project('shm apart', 'shm', { include: alone, isolate: true }),
    ...['udp', 'auto'].flatMap((link) => [
      project(link, link, { include: moving.together, exclude: alone, isolate: false }),
      project(`${link} apart`, link, { include: moving.apart, isolate: true }),
    ]),
  ];
  return mergeConfig({ ...base, test }, { test: { projects } });
}
