import type {
  AddressHandle,
  CompletionQueue,
  DeviceMemory,
  ProtectionDomain,
  QueuePair,
  ReceiveWorkQueue,
  SharedReceiveQueue,
} from '@verbs/core';
import { validate } from '@verbs/core/provider';
import { counted, done, made } from '../base/calls.js';
import { forObject } from '../base/libraries.js';
import { native } from '../native/index.js';

const syscall = 'mlx5dv_init_obj';
const AV_BYTES = 48;

/** `struct mlx5dv_qp`, without its pointers: numbers for DEVX commands. */
export interface Mlx5Qp {
  /** The send queue. */
  sq: Mlx5Ring;
  /** The receive queue. */
  rq: Mlx5Ring;
  /** Bytes of the BlueField register. */
  bfSize: number;
  /** `enum mlx5dv_qp_comp_mask`: the valid fields among the following. */
  compMask: bigint;
  /** Number of the TIR, which receives. */
  tirn: number;
  /** Number of the TIS, which sends. */
  tisn: number;
  /** Number of the receive queue. */
  rqn: number;
  /** Number of the send queue. */
  sqn: number;
  /** The address of the TIR in the device's memory. */
  tirIcmAddr: bigint;
}

/** The layout of a queue in memory. */
export interface Mlx5Ring {
  /** Entries. */
  wqeCnt: number;
  /** Bytes of an entry. */
  stride: number;
}

/** The results of {@link initObj}, by kind of object. */
export interface Mlx5Objects {
  /** `struct mlx5dv_qp`. */
  qp: Mlx5Qp;
  /** `struct mlx5dv_cq`. */
  cq: {
    /** Entries. */
    cqeCnt: number;
    /** Bytes of an entry. */
    cqeSize: number;
    /** The completion queue's number. */
    cqn: number;
  };
  /** `struct mlx5dv_srq`. */
  srq: {
    /** Bytes of an entry. */
    stride: number;
    /** The first free entry. */
    head: number;
    /** The last free entry. */
    tail: number;
    /** The shared receive queue's number. */
    srqn: number;
  };
  /** `struct mlx5dv_rwq`. */
  rwq: Mlx5Ring;
  /** `struct mlx5dv_dm`. */
  dm: {
    /** Bytes. */
    length: bigint;
    /** Its address for peers. */
    remoteVa: bigint;
  };
  /** `struct mlx5dv_pd`. */
  pd: {
    /** The protection domain's number. */
    pdn: number;
  };
  /** `struct mlx5dv_ah`. */
  ah: {
    /** The address vector, 48 bytes in the layout of work requests. */
    av: Uint8Array;
  };
}

/** The objects for {@link initObj}: one or more. */
export interface Mlx5ObjectIn {
  /** A queue pair. */
  qp?: QueuePair;
  /** A completion queue. */
  cq?: CompletionQueue;
  /** A shared receive queue. */
  srq?: SharedReceiveQueue;
  /** A receive work queue. */
  rwq?: ReceiveWorkQueue;
  /** Device memory. */
  dm?: DeviceMemory;
  /** A protection domain. */
  pd?: ProtectionDomain;
  /** An address handle. */
  ah?: AddressHandle;
}

const KINDS: Readonly<Record<keyof Mlx5Objects, string>> = {
  qp: 'QueuePair',
  cq: 'CompletionQueue',
  srq: 'SharedReceiveQueue',
  rwq: 'ReceiveWorkQueue',
  dm: 'DeviceMemory',
  pd: 'ProtectionDomain',
  ah: 'AddressHandle',
};

/**
 * `mlx5dv_init_obj`: the device's own view of verbs objects: their numbers, for DEVX commands, and the layout of their
 * queues. It does not give access to the queues.
 *
 * libmlx5 takes a completion queue that was asked for as one that the program empties itself: the completions of a queue
 * pair that is destroyed stay in it, and the next poll may fail at them. Poll them first.
 *
 * @param objects each field has its result
 * @throws VerbsError EOPNOTSUPP, EINVAL
 * @example
 * const numbers = initObj({ pd, cq });
 * console.log(numbers.pd.pdn, numbers.cq.cqn);
 */
export function initObj<const In extends Mlx5ObjectIn>(objects: In): Pick<Mlx5Objects, keyof In & keyof Mlx5Objects> {
  const names = Object.keys(KINDS) as (keyof Mlx5Objects)[];
  const given = validate.object(objects, 'objects', names);
  const result: Partial<Record<string, object>> = {};
  for (const name of names) if (given[name] !== undefined) result[name] = view(name, given[name]);
  return result as unknown as Pick<Mlx5Objects, keyof In & keyof Mlx5Objects>;
}

function view(name: keyof Mlx5Objects, object: unknown): object {
  const { library, handle } = forObject(object, KINDS[name], `objects.${name}`, syscall);
  const about = { library, syscall, detail: `of objects.${name}` };
  switch (name) {
    case 'qp': {
      const { sqWqeCnt, sqStride, rqWqeCnt, rqStride, ...rest } = made(native.initQp(library, handle), about);
      const [sq, rq] = [
        { wqeCnt: sqWqeCnt, stride: sqStride },
        { wqeCnt: rqWqeCnt, stride: rqStride },
      ];
      return { sq, rq, ...rest } satisfies Mlx5Qp;
    }
    case 'cq':
      return made(native.initCq(library, handle), about);
    case 'srq':
      return made(native.initSrq(library, handle), about);
    case 'rwq':
      return made(native.initRwq(library, handle), about);
    case 'dm':
      return made(native.initDm(library, handle), about);
    case 'pd':
      return { pdn: counted(native.initPd(library, handle), about) };
    case 'ah': {
      const av = new Uint8Array(AV_BYTES);
      done(native.initAh(library, handle, av), about);
      return { av };
    }
  }
}
