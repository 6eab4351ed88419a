import type { Context } from '@verbs/core';
import { VerbsError } from '@verbs/core';
import { configure } from '@verbs/soft';
import { onTestFinished } from 'vitest';
import { openDevice } from '../../src/index.js';

const opened: Disposable[] = [];

function closeAll(): void {
  for (const each of opened.splice(0).reverse()) each[Symbol.dispose]();
}

/** Closes it after the test. */
export function owned<T extends Disposable>(object: T): T {
  if (opened.push(object) === 1) onTestFinished(closeAll);
  return object;
}

/** Opens mlx5_soft0, configured with those options, to be closed after the test or by the next call. */
export function open(options = ''): Context {
  closeAll();
  configure(`mlx5_soft0,kind=mlx5${options === '' ? '' : `,${options}`};soft0`);
  return owned(openDevice('mlx5_soft0'));
}

/** What a call fails with. */
export function failure(call: () => unknown): VerbsError {
  try {
    call();
  } catch (error) {
    if (error instanceof VerbsError) return error;
    throw error;
  }
  throw new Error('the call did not fail');
}

/** 'EINVAL', or '' if the call does not fail. */
export function code(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof VerbsError) return error.code;
    throw error;
  }
  return '';
}
