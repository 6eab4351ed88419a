import type {
  CompletionQueue,
  Context,
  CqOptions,
  ProtectionDomain,
  QpInitAttr,
  QpType,
  QueuePair,
  ReceiveWorkQueue,
  WqInitAttr,
} from '@verbs/core';
import {
  adoptCq,
  adoptQp,
  adoptWq,
  nativeCqOptions,
  nativeQpInitAttr,
  nativeWqAttr,
  validate,
} from '@verbs/core/provider';
import { made } from '../base/calls.js';
import { forContext, forObject } from '../base/libraries.js';
import { native } from '../native/index.js';

const U32 = 0xffffffff;
/** What `struct ibv_wc` has. */
const STANDARD_WC = 0x7fn;

/** `enum mlx5dv_cqe_comp_res_format`. */
export const CqeCompResFormat = {
  /** `MLX5DV_CQE_RES_FORMAT_HASH`: the short entries keep the hash of receive side scaling. */
  HASH: 1,
  /** `MLX5DV_CQE_RES_FORMAT_CSUM`: they keep the checksum. */
  CSUM: 2,
  /** `MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX`: they keep the checksum and the index of the stride. */
  CSUM_STRIDX: 4,
} as const;

/** `enum mlx5dv_cq_init_attr_flags`. */
export const Mlx5CqFlags = {
  /** `MLX5DV_CQ_INIT_ATTR_FLAGS_CQE_PAD`: the device pads an entry of 64 bytes to a cache line of 128. */
  CQE_PAD: 1,
} as const;

/** `struct mlx5dv_cq_init_attr`: what is given is in its `comp_mask`. */
export interface Mlx5CqInitAttr {
  /** {@link CqeCompResFormat}: the device may write several completions into one entry. */
  cqeCompResFormat?: number;
  /** {@link Mlx5CqFlags}, or-ed. */
  flags?: number;
  /** Bytes of an entry: 64 or 128. */
  cqeSize?: number;
}

/** Checks the optional numbers of an attribute structure; their bits are what the mask is made of. */
function masked(value: unknown, path: string, fields: Readonly<Record<string, readonly [bit: number, max: number]>>) {
  const given = validate.object(value, path, Object.keys(fields));
  let compMask = 0n;
  const result: Record<string, number> = {};
  for (const [name, [bit, max]] of Object.entries(fields)) {
    if (given[name] === undefined) continue;
    result[name] = validate.integer(given[name], `${path}.${name}`, 0, max);
    compMask |= BigInt(bit);
  }
  return { ...result, compMask };
}

/**
 * `mlx5dv_create_cq`: as `ctx.createCq` with `wcFlags`, with what mlx5 has beyond.
 *
 * @throws VerbsError EINVAL, EOPNOTSUPP (an attribute that the device does not have)
 * @example const cq = createCq(ctx, 64, { wcFlags: WcExFlags.FLOW_TAG }, { cqeSize: 128 });
 */
export function createCq(
  ctx: Context,
  cqe: number,
  options: CqOptions = {},
  mlx5Attr: Mlx5CqInitAttr = {},
): CompletionQueue {
  const syscall = 'mlx5dv_create_cq';
  const { library, handle } = forContext(ctx, syscall);
  validate.integer(cqe, 'cqe', 1, 0x7fffffff);
  const { channel, compVector, extended = { wcFlags: STANDARD_WC, flags: 0 } } = nativeCqOptions(options);
  const attr = masked(mlx5Attr, 'mlx5Attr', { cqeCompResFormat: [1, 0xff], flags: [2, U32], cqeSize: [4, 0xffff] });
  const result = native.createCq(library, handle, cqe, channel, compVector, extended, attr);
  const queue = made(result, { library, syscall, detail: `of ${cqe} entries` });
  const { parentDomain } = options;
  return adoptCq(ctx, options.channel, queue, { wcFlags: Number(extended.wcFlags), parentDomain });
}

/** `enum mlx5dv_qp_create_flags`, to be or-ed. */
export const Mlx5QpCreateFlags = {
  /** `MLX5DV_QP_CREATE_TUNNEL_OFFLOADS`: of RAW_PACKET: offloads look into tunnels. */
  TUNNEL_OFFLOADS: 1 << 0,
  /** `MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC`: of RAW_PACKET: it receives what its own port sends to itself. */
  TIR_ALLOW_SELF_LOOPBACK_UC: 1 << 1,
  /** `MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_MC`: of RAW_PACKET: it receives multicast that its own port sends. */
  TIR_ALLOW_SELF_LOOPBACK_MC: 1 << 2,
  /** `MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE`: small messages are never put into the completion entry. */
  DISABLE_SCATTER_TO_CQE: 1 << 3,
  /** `MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE`: small messages may be, also of DC queue pairs. */
  ALLOW_SCATTER_TO_CQE: 1 << 4,
  /** `MLX5DV_QP_CREATE_PACKET_BASED_CREDIT_MODE`: RC has credits for packets instead of messages. */
  PACKET_BASED_CREDIT_MODE: 1 << 5,
  /**
   * `MLX5DV_QP_CREATE_SIG_PIPELINING`: after a signature error the send queue stops (SQD), so that the next request
   * does not run on bad data.
   */
  SIG_PIPELINING: 1 << 6,
} as const;

/** `enum mlx5dv_qp_create_send_ops_flags`, to be or-ed. */
export const Mlx5SendOpsFlags = {
  /** `MLX5DV_QP_EX_WITH_MR_INTERLEAVED`: `mlx5dv_wr_mr_interleaved`. */
  MR_INTERLEAVED: 1 << 0,
  /** `MLX5DV_QP_EX_WITH_MR_LIST`: `mlx5dv_wr_mr_list`. */
  MR_LIST: 1 << 1,
  /** `MLX5DV_QP_EX_WITH_MKEY_CONFIGURE`: `mlx5dv_wr_mkey_configure` and its setters. */
  MKEY_CONFIGURE: 1 << 2,
  /** `MLX5DV_QP_EX_WITH_RAW_WQE`: `mlx5dv_wr_raw_wqe`. */
  RAW_WQE: 1 << 3,
  /** `MLX5DV_QP_EX_WITH_MEMCPY`: `mlx5dv_wr_memcpy`. */
  MEMCPY: 1 << 4,
} as const;

/** `enum mlx5dv_dc_type`: dynamically connected queue pairs, with QpType.DRIVER. */
export const DcType = {
  /** The receiving side. */
  DCT: 1,
  /** The sending side. */
  DCI: 2,
} as const;

/** `struct mlx5dv_qp_init_attr`: what is given is in its `comp_mask`. */
export interface Mlx5QpInitAttr {
  /** {@link Mlx5QpCreateFlags}, or-ed. */
  createFlags?: number;
  /** {@link Mlx5SendOpsFlags}, or-ed. */
  sendOpsFlags?: number;
  /** `struct mlx5dv_dc_init_attr`: a dynamically connected queue pair. */
  dcInitAttr?:
    | {
        /** The receiving side. */
        dcType: typeof DcType.DCT;
        /** 64 bits that a sender must know. */
        dctAccessKey: bigint | number;
      }
    | {
        /** The sending side. */
        dcType: typeof DcType.DCI;
        /** `struct mlx5dv_dci_streams`: streams that do not wait for each other. */
        dciStreams?: {
          /** So many streams, as a power of two. */
          logNumConcurent: number;
          /** So many may fail before the queue pair does, as a power of two. */
          logNumErrored: number;
        };
      };
}

const DC = 2n;
const DCI_STREAMS = 8n;

function dcFields(value: unknown) {
  const path = 'mlx5Attr.dcInitAttr';
  const given = validate.object(value, path, ['dcType', 'dctAccessKey', 'dciStreams']);
  const dcType = validate.integer(given['dcType'], `${path}.dcType`, 0, U32);
  if (given['dctAccessKey'] !== undefined) {
    const dctAccessKey = BigInt(validate.u64(given['dctAccessKey'], `${path}.dctAccessKey`));
    return { mask: DC, dcType, dctAccessKey };
  }
  if (given['dciStreams'] === undefined) return { mask: DC, dcType };
  const streams = validate.object(given['dciStreams'], `${path}.dciStreams`, ['logNumConcurent', 'logNumErrored']);
  const log = (name: string) => validate.integer(streams[name], `${path}.dciStreams.${name}`, 0, 0xff);
  const [logNumConcurent, logNumErrored] = [log('logNumConcurent'), log('logNumErrored')];
  return { mask: DC | DCI_STREAMS, dcType, logNumConcurent, logNumErrored };
}

/**
 * `mlx5dv_create_qp`: as `pd.createQp`, with what mlx5 has beyond.
 *
 * @throws VerbsError EINVAL, EOPNOTSUPP (an attribute that the device does not have)
 * @example
 * const attr = { qpType: QpType.RAW_PACKET, sendCq: cq, recvCq: cq, cap: { maxSendWr: 16, maxRecvWr: 16 } };
 * const qp = createQp(pd, attr, { createFlags: Mlx5QpCreateFlags.TIR_ALLOW_SELF_LOOPBACK_UC });
 */
export function createQp<const T extends QpType>(
  pd: ProtectionDomain,
  attr: QpInitAttr<T>,
  mlx5Attr: Mlx5QpInitAttr = {},
): QueuePair<T> {
  const syscall = 'mlx5dv_create_qp';
  const { library, handle } = forObject(pd, 'ProtectionDomain', 'pd', syscall);
  const init = nativeQpInitAttr(attr, 'attr', handle);
  const { dcInitAttr, ...numbers } = validate.object(mlx5Attr, 'mlx5Attr', [
    'createFlags',
    'sendOpsFlags',
    'dcInitAttr',
  ]);
  const fields = masked(numbers, 'mlx5Attr', { createFlags: [1, U32], sendOpsFlags: [4, U32] });
  const { mask, ...dc } = dcInitAttr === undefined ? { mask: 0n } : dcFields(dcInitAttr);
  const result = native.createQp(library, init, { ...fields, ...dc, compMask: fields.compMask | mask });
  return adoptQp(pd, attr, made(result, { library, syscall }));
}

/** `struct mlx5dv_wq_init_attr`. */
export interface Mlx5WqInitAttr {
  /** `struct mlx5dv_striding_rq_init_attr`: several packets into one buffer. */
  stridingRqAttrs?: {
    /** Bytes of a stride, as a power of two. */
    singleStrideLogNumOfBytes: number;
    /** Strides of a receive request, as a power of two. */
    singleWqeLogNumOfStrides: number;
    /** Two bytes in front of each packet, so that its IP header is aligned; default false. */
    twoByteShiftEn?: boolean;
  };
}

/** `mlx5dv_create_wq`: as `pd.createWq`, with striding. @throws VerbsError EINVAL, EOPNOTSUPP */
export function createWq(pd: ProtectionDomain, attr: WqInitAttr, mlx5Attr: Mlx5WqInitAttr = {}): ReceiveWorkQueue {
  const syscall = 'mlx5dv_create_wq';
  const { library } = forObject(pd, 'ProtectionDomain', 'pd', syscall);
  const { handle, cq, init } = nativeWqAttr(pd, attr);
  const { stridingRqAttrs } = validate.object(mlx5Attr, 'mlx5Attr', ['stridingRqAttrs']);
  const striding = stridingRqAttrs === undefined ? { compMask: 0n } : strideFields(stridingRqAttrs);
  const result = native.createWq(library, handle, cq, init, striding);
  return adoptWq(pd, attr, made(result, { library, syscall }));
}

function strideFields(value: unknown) {
  const path = 'mlx5Attr.stridingRqAttrs';
  const names = ['singleStrideLogNumOfBytes', 'singleWqeLogNumOfStrides', 'twoByteShiftEn'];
  const given = validate.object(value, path, names);
  const field = (name: string) => validate.integer(given[name], `${path}.${name}`, 0, U32);
  return {
    compMask: 1n,
    singleStrideLogNumOfBytes: field('singleStrideLogNumOfBytes'),
    singleWqeLogNumOfStrides: field('singleWqeLogNumOfStrides'),
    twoByteShiftEn: Number(validate.boolean(given['twoByteShiftEn'], `${path}.twoByteShiftEn`, false)),
  };
}
