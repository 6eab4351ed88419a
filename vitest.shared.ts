import { mergeConfig } from 'vitest/config';
import base from './vitest.base.ts';

/**
 * For tests that leave nothing behind in their process: what they try runs in processes of its own, or is pure logic. The files
 * share the processes of two workers, which saves a start for each. A file that crashes its process still ends alone: the next
 * one gets a new process.
 */
export default mergeConfig(base, { test: { isolate: false } });
