import type {
  CompletionQueue,
  Context,
  IndirectionTable,
  QueuePair,
  ReceiveWorkQueue,
  SharedReceiveQueue,
} from '@verbs/core';
import { validate } from '@verbs/core/provider';
import { counted, made } from '../base/calls.js';
import { forContext, forObject } from '../base/libraries.js';
import { native } from '../native/index.js';
import { exchange, request } from './command.js';
import { DevxObject, makeObj } from './object.js';
import { exported } from './sharing.js';

/**
 * `mlx5dv_devx_obj_create`: an object of the firmware, by a create command of the device's manual.
 *
 * @param input the command, 16 bytes or more, in network order
 * @param outLength bytes of the output, 16 or more
 * @throws VerbsError EREMOTEIO (the device rejected the command; the message has its status and syndrome), EINVAL (the
 *   kernel's answer to what is no create command; the model's is EREMOTEIO with status 0x2),
 *   EOPNOTSUPP, EPERM
 */
export function createObj(ctx: Context, input: Uint8Array, outLength: number): DevxObject {
  return new DevxObject(ctx, makeObj(ctx, input, outLength));
}

/**
 * `mlx5dv_devx_obj_import`: an object that another context of the same open file exported.
 *
 * @param data from {@link DevxObject.export}; the library does not detect other bytes
 * @throws VerbsError EOPNOTSUPP (a libmlx5 before rdma-core 63), EINVAL
 */
export function importObj(ctx: Context, data: Uint8Array): DevxObject {
  const syscall = 'mlx5dv_devx_obj_import';
  const { library, handle } = forContext(ctx, syscall);
  const bytes = exported(data, library, 'devxObjAttrsSize', syscall);
  const imported = made(native.devxObjImport(library, handle, bytes), { library, syscall });
  return new DevxObject(ctx, { handle: imported, out: new Uint8Array(), imported: true });
}

/**
 * `mlx5dv_devx_general_cmd`: a command without an object, such as QUERY_HCA_CAP.
 *
 * @returns the output, of `outLength` bytes
 * @throws VerbsError EREMOTEIO (the device rejected the command; the message has its status and syndrome), EINVAL (no general command)
 */
export function generalCmd(ctx: Context, input: Uint8Array, outLength: number): Uint8Array {
  const syscall = 'mlx5dv_devx_general_cmd';
  const { library, handle } = forContext(ctx, syscall);
  const { bytes, out } = request(input, outLength);
  exchange(native.devxGeneralCmd(library, handle, bytes, out), out, bytes, { library, syscall });
  return out;
}

/**
 * `mlx5dv_devx_query_eqn`: the number of the event queue behind a completion vector.
 *
 * @throws VerbsError EINVAL, EOPNOTSUPP
 */
export function queryEqn(ctx: Context, vector: number): number {
  const syscall = 'mlx5dv_devx_query_eqn';
  const { library, handle } = forContext(ctx, syscall);
  validate.integer(vector, 'vector', 0, 0xffffffff);
  return counted(native.devxQueryEqn(library, handle, vector), { library, syscall, detail: `of vector ${vector}` });
}

/** The verbs objects with commands of their own: the kind, the word in the C function's name, and the addon's calls. */
const VERBS_OBJECTS = {
  cq: { kind: 'CompletionQueue', word: 'cq', query: native.devxCqQuery, modify: native.devxCqModify },
  qp: { kind: 'QueuePair', word: 'qp', query: native.devxQpQuery, modify: native.devxQpModify },
  srq: { kind: 'SharedReceiveQueue', word: 'srq', query: native.devxSrqQuery, modify: native.devxSrqModify },
  wq: { kind: 'ReceiveWorkQueue', word: 'wq', query: native.devxWqQuery, modify: native.devxWqModify },
  indTbl: { kind: 'IndirectionTable', word: 'ind_tbl', query: native.devxIndTblQuery, modify: native.devxIndTblModify },
} as const;

/** Runs a command on a verbs object. `path` is the argument's name. */
function run(
  path: keyof typeof VERBS_OBJECTS,
  action: 'query' | 'modify',
  object: object,
  input: Uint8Array,
  outLength: number,
): Uint8Array {
  const { kind, word, [action]: call } = VERBS_OBJECTS[path];
  const syscall = `mlx5dv_devx_${word}_${action}`;
  const { library, handle } = forObject(object, kind, path, syscall);
  const { bytes, out } = request(input, outLength);
  exchange(call(library, handle, bytes, out), out, bytes, { library, syscall });
  return out;
}

/** `mlx5dv_devx_cq_query`: a query command on a completion queue. Errors as {@link generalCmd}. */
export function cqQuery(cq: CompletionQueue, input: Uint8Array, outLength: number): Uint8Array {
  return run('cq', 'query', cq, input, outLength);
}

/** `mlx5dv_devx_cq_modify`: a modify command on a completion queue. Errors as {@link generalCmd}. */
export function cqModify(cq: CompletionQueue, input: Uint8Array, outLength: number): Uint8Array {
  return run('cq', 'modify', cq, input, outLength);
}

/** `mlx5dv_devx_qp_query`: a query command on a queue pair. Errors as {@link generalCmd}. */
export function qpQuery(qp: QueuePair, input: Uint8Array, outLength: number): Uint8Array {
  return run('qp', 'query', qp, input, outLength);
}

/** `mlx5dv_devx_qp_modify`: a modify command on a queue pair. Errors as {@link generalCmd}. */
export function qpModify(qp: QueuePair, input: Uint8Array, outLength: number): Uint8Array {
  return run('qp', 'modify', qp, input, outLength);
}

/** `mlx5dv_devx_srq_query`: a query command on a shared receive queue. Errors as {@link generalCmd}. */
export function srqQuery(srq: SharedReceiveQueue, input: Uint8Array, outLength: number): Uint8Array {
  return run('srq', 'query', srq, input, outLength);
}

/** `mlx5dv_devx_srq_modify`: a modify command on a shared receive queue. Errors as {@link generalCmd}. */
export function srqModify(srq: SharedReceiveQueue, input: Uint8Array, outLength: number): Uint8Array {
  return run('srq', 'modify', srq, input, outLength);
}

/** `mlx5dv_devx_wq_query`: a query command on a receive work queue. Errors as {@link generalCmd}. */
export function wqQuery(wq: ReceiveWorkQueue, input: Uint8Array, outLength: number): Uint8Array {
  return run('wq', 'query', wq, input, outLength);
}

/** `mlx5dv_devx_wq_modify`: a modify command on a receive work queue. Errors as {@link generalCmd}. */
export function wqModify(wq: ReceiveWorkQueue, input: Uint8Array, outLength: number): Uint8Array {
  return run('wq', 'modify', wq, input, outLength);
}

/** `mlx5dv_devx_ind_tbl_query`: a query command on an indirection table. Errors as {@link generalCmd}. */
export function indTblQuery(indTbl: IndirectionTable, input: Uint8Array, outLength: number): Uint8Array {
  return run('indTbl', 'query', indTbl, input, outLength);
}

/** `mlx5dv_devx_ind_tbl_modify`: a modify command on an indirection table. Errors as {@link generalCmd}. */
export function indTblModify(indTbl: IndirectionTable, input: Uint8Array, outLength: number): Uint8Array {
  return run('indTbl', 'modify', indTbl, input, outLength);
}
