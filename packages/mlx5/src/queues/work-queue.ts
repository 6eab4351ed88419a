import type { ProtectionDomain, ReceiveWorkQueue, WqInitAttr } from '@verbs/core';
import { adoptWq, fields, flag, maybe, nativeWqAttr, u32 } from '@verbs/core/provider';
import { made } from '../base/calls.js';
import { forObject } from '../base/libraries.js';
import { native } from '../native/index.js';

/** `struct mlx5dv_wq_init_attr`. */
export interface Mlx5WqInitAttr {
  /** `struct mlx5dv_striding_rq_init_attr`: several packets in one buffer. */
  stridingRqAttrs?: {
    /** Bytes of a stride, as a power of two. */
    singleStrideLogNumOfBytes: number;
    /** Strides of a receive request, as a power of two. */
    singleWqeLogNumOfStrides: number;
    /** Two bytes in front of each packet align its IP header; default false. */
    twoByteShiftEn?: boolean;
  };
}

const checkAttr = fields({
  stridingRqAttrs: maybe(
    fields({ singleStrideLogNumOfBytes: u32(), singleWqeLogNumOfStrides: u32(), twoByteShiftEn: flag() }),
  ),
});

/** `mlx5dv_create_wq`: `pd.createWq` with striding. @throws VerbsError EINVAL, EOPNOTSUPP */
export function createWq(pd: ProtectionDomain, attr: WqInitAttr, mlx5Attr: Mlx5WqInitAttr = {}): ReceiveWorkQueue {
  const syscall = 'mlx5dv_create_wq';
  const { library } = forObject(pd, 'ProtectionDomain', 'pd', syscall);
  const { handle, cq, init } = nativeWqAttr(pd, attr);
  const { stridingRqAttrs: striding } = checkAttr(mlx5Attr, 'mlx5Attr');
  const complete =
    striding === undefined
      ? { compMask: 0n }
      : { ...striding, twoByteShiftEn: Number(striding.twoByteShiftEn), compMask: 1n };
  const result = native.createWq(library, handle, cq, init, complete);
  return adoptWq(pd, attr, made(result, { library, syscall }));
}
