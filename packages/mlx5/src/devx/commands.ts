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
import { native, type NativeHandle, type NativeLibrary } from '../native/index.js';
import { exchange, request } from './command.js';
import { DevxObject, makeObj } from './object.js';
import { exported } from './sharing.js';

/**
 * `mlx5dv_devx_obj_create`: an object of the firmware, by a create command of the device's manual.
 *
 * @param input the command, 16 bytes or more, in network order
 * @param outLength bytes of the answer, 16 or more
 * @throws VerbsError EREMOTEIO (the device refused; status and syndrome are in the message), EINVAL (no create command),
 *   EOPNOTSUPP, EPERM
 */
export function createObj(ctx: Context, input: Uint8Array, outLength: number): DevxObject {
  return new DevxObject(ctx, makeObj(ctx, input, outLength));
}

/**
 * `mlx5dv_devx_obj_import`: an object that another context of the same open file exported.
 *
 * @param data of {@link DevxObject.export}; other bytes are not found out by the library
 * @throws VerbsError EOPNOTSUPP (newer than rdma-core 44), EINVAL
 */
export function importObj(ctx: Context, data: Uint8Array): DevxObject {
  const syscall = 'mlx5dv_devx_obj_import';
  const { library, handle } = forContext(ctx, syscall);
  const bytes = exported(data, library, 'devxObjAttrsSize', syscall);
  const imported = made(native.devxObjImport(library, handle, bytes), { library, syscall });
  return new DevxObject(ctx, { handle: imported, out: new Uint8Array(), imported: true });
}

/**
 * `mlx5dv_devx_general_cmd`: a command that belongs to no object, as QUERY_HCA_CAP.
 *
 * @returns the answer, of `outLength` bytes
 * @throws VerbsError EREMOTEIO (the device refused; status and syndrome are in the message), EINVAL (no general command)
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

type Call = (library: NativeLibrary, object: NativeHandle, input: Uint8Array, output: Uint8Array) => number;

function run(
  on: { object: object; kind: string; path: string; syscall: string },
  call: Call,
  input: Uint8Array,
  outLength: number,
): Uint8Array {
  const { syscall } = on;
  const { library, handle } = forObject(on.object, on.kind, on.path, syscall);
  const { bytes, out } = request(input, outLength);
  exchange(call(library, handle, bytes, out), out, bytes, { library, syscall });
  return out;
}

/** `mlx5dv_devx_cq_query`: a query command on a completion queue of the verbs. Errors as {@link generalCmd}. */
export function cqQuery(cq: CompletionQueue, input: Uint8Array, outLength: number): Uint8Array {
  const on = { object: cq, kind: 'CompletionQueue', path: 'cq', syscall: 'mlx5dv_devx_cq_query' };
  return run(on, native.devxCqQuery, input, outLength);
}

/** `mlx5dv_devx_cq_modify`: a modify command on a completion queue of the verbs. Errors as {@link generalCmd}. */
export function cqModify(cq: CompletionQueue, input: Uint8Array, outLength: number): Uint8Array {
  const on = { object: cq, kind: 'CompletionQueue', path: 'cq', syscall: 'mlx5dv_devx_cq_modify' };
  return run(on, native.devxCqModify, input, outLength);
}

/** `mlx5dv_devx_qp_query`: a query command on a queue pair of the verbs. Errors as {@link generalCmd}. */
export function qpQuery(qp: QueuePair, input: Uint8Array, outLength: number): Uint8Array {
  const on = { object: qp, kind: 'QueuePair', path: 'qp', syscall: 'mlx5dv_devx_qp_query' };
  return run(on, native.devxQpQuery, input, outLength);
}

/** `mlx5dv_devx_qp_modify`: a modify command on a queue pair of the verbs. Errors as {@link generalCmd}. */
export function qpModify(qp: QueuePair, input: Uint8Array, outLength: number): Uint8Array {
  const on = { object: qp, kind: 'QueuePair', path: 'qp', syscall: 'mlx5dv_devx_qp_modify' };
  return run(on, native.devxQpModify, input, outLength);
}

/** `mlx5dv_devx_srq_query`: a query command on a shared receive queue of the verbs. Errors as {@link generalCmd}. */
export function srqQuery(srq: SharedReceiveQueue, input: Uint8Array, outLength: number): Uint8Array {
  const on = { object: srq, kind: 'SharedReceiveQueue', path: 'srq', syscall: 'mlx5dv_devx_srq_query' };
  return run(on, native.devxSrqQuery, input, outLength);
}

/** `mlx5dv_devx_srq_modify`: a modify command on a shared receive queue of the verbs. Errors as {@link generalCmd}. */
export function srqModify(srq: SharedReceiveQueue, input: Uint8Array, outLength: number): Uint8Array {
  const on = { object: srq, kind: 'SharedReceiveQueue', path: 'srq', syscall: 'mlx5dv_devx_srq_modify' };
  return run(on, native.devxSrqModify, input, outLength);
}

/** `mlx5dv_devx_wq_query`: a query command on a receive work queue of the verbs. Errors as {@link generalCmd}. */
export function wqQuery(wq: ReceiveWorkQueue, input: Uint8Array, outLength: number): Uint8Array {
  const on = { object: wq, kind: 'ReceiveWorkQueue', path: 'wq', syscall: 'mlx5dv_devx_wq_query' };
  return run(on, native.devxWqQuery, input, outLength);
}

/** `mlx5dv_devx_wq_modify`: a modify command on a receive work queue of the verbs. Errors as {@link generalCmd}. */
export function wqModify(wq: ReceiveWorkQueue, input: Uint8Array, outLength: number): Uint8Array {
  const on = { object: wq, kind: 'ReceiveWorkQueue', path: 'wq', syscall: 'mlx5dv_devx_wq_modify' };
  return run(on, native.devxWqModify, input, outLength);
}

/** `mlx5dv_devx_ind_tbl_query`: a query command on an indirection table of the verbs. Errors as {@link generalCmd}. */
export function indTblQuery(indTbl: IndirectionTable, input: Uint8Array, outLength: number): Uint8Array {
  const on = { object: indTbl, kind: 'IndirectionTable', path: 'indTbl', syscall: 'mlx5dv_devx_ind_tbl_query' };
  return run(on, native.devxIndTblQuery, input, outLength);
}

/** `mlx5dv_devx_ind_tbl_modify`: a modify command on an indirection table of the verbs. Errors as {@link generalCmd}. */
export function indTblModify(indTbl: IndirectionTable, input: Uint8Array, outLength: number): Uint8Array {
  const on = { object: indTbl, kind: 'IndirectionTable', path: 'indTbl', syscall: 'mlx5dv_devx_ind_tbl_modify' };
  return run(on, native.devxIndTblModify, input, outLength);
}
