import { errno } from '../base/errno.js';
import { VerbsError } from '../base/errors.js';
import { PostError } from '../base/records.js';
import { valueError } from '../base/validate.js';

/** Why a post call stopped. */
export interface PostFailure {
  /** The result of the native call: a PostError, or a positive errno. */
  code: number;
  /** Number of requests that were posted before the wrong one. */
  posted: number;
  /** The wrong element, for the codes that have one. */
  sge: number;
  /** The request's path: 'wr', 'wr[2]' or 'batch[2]'. */
  path: string;
  /** The reason that the library did not give. */
  hint: string | undefined;
  syscall: string;
  maxSge: number;
  maxWr: number;
}

/** The error for a post call that stopped before its last request. */
export function postError({ code, sge, path, hint, syscall, maxSge, maxWr }: Omit<PostFailure, 'posted'>): Error {
  const element = `${path}.sgList[${sge}]`;
  switch (code) {
    case PostError.TRUNCATED:
      return valueError(path, 'was changed while it was read');
    case PostError.TOO_MANY_SGE:
      return valueError(
        `${path}.sgList`,
        `has more elements than the queue takes: at most ${maxSge} (see the size that it was created with)`,
      );
    case PostError.NO_MEMORY_REGION:
      return valueError(`${element}.mr`, 'is not of the device of this queue, or was closed');
    case PostError.OUT_OF_BOUNDS:
      return Object.assign(new RangeError(`${element} reaches past the end of its memory region`), {
        code: 'ERR_OUT_OF_RANGE',
      });
    case PostError.BAD_OPCODE:
      return valueError(`${path}.opcode`, 'is not one that postSend carries');
    case PostError.NO_ADDRESS:
      return valueError(`${path}.ah`, "is not an open AddressHandle of this queue pair's device");
    case PostError.QUEUE_FULL:
      if (maxWr === 0) return new VerbsError(errno.EINVAL, syscall, { hint: hint });
      return new VerbsError(errno.ENOMEM, syscall, {
        hint:
          `${path} does not fit: the queue holds at most ${maxWr} outstanding requests. ` +
          (syscall.endsWith('_recv')
            ? 'Take the completions of some first, or create a larger queue'
            : 'Poll the completions of signaled requests first, or create a larger queue'),
      });
    case PostError.NO_MEMORY_WINDOW:
      return valueError(`${path}.mw`, "is not an open MemoryWindow of this queue pair's device");
    case PostError.BAD_LENGTH:
      return valueError(`${path}.sgList`, 'must be one element of 8 bytes, which ATOMIC_WRITE writes');
    case PostError.NOT_WRITTEN:
      return valueError(path, 'is a slot that holds no request: write it by set() first');
    case PostError.OTHER_DOMAIN:
      return valueError(
        `${path}.ah`,
        "is of another protection domain than the queue pair: create one in the queue pair's",
      );
    case PostError.NO_LOCAL_MEMORY:
      return valueError(
        `${element}.mr`,
        'has no memory of this process, from which INLINE data and the value of ATOMIC_WRITE are taken: use a region of ' +
          'allocMr or regMr',
      );
    default:
      return new VerbsError(code, syscall, { hint, ...(path === 'wr' ? {} : { detail: `of ${path}` }) });
  }
}
