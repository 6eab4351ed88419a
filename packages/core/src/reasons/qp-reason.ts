import { enumName, QpType } from '../enums/index.js';
import type { Context } from '../types/objects.js';
import type { QpCap } from '../types/qp-attr.js';

/** A queue pair that was not created. */
export interface RefusedQp {
  qpType: number;
  cap: Partial<QpCap>;
  /** The context of the protection domain. */
  context: Context;
  /** Those of its parts, by the names of the attributes. */
  parts: Record<string, { context: Context } | undefined>;
  /** The shared receive queue matches tags. */
  matchesTags: boolean;
}

/** Why `ibv_create_qp` refused with EINVAL or ENOMEM, in the program's names; undefined where all looks right from here. */
export function qpReason({ qpType, cap, context, parts, matchesTags }: RefusedQp): string | undefined {
  const stranger = Object.entries(parts).find(([, part]) => part !== undefined && part.context !== context);
  if (stranger !== undefined) return `attr.${stranger[0]} is of another context than the protection domain`;
  if (matchesTags && (qpType !== QpType.RC || (cap.maxSendWr ?? 0) !== 0)) {
    return (
      'attr.srq is a shared receive queue of type TM, whose queue pairs are of type RC with cap.maxSendWr 0: the device ' +
      `sends on them; this one is of ${enumName(QpType, qpType)} with ${cap.maxSendWr ?? 0}`
    );
  }
  const { maxQpWr, maxSge } = context.queryDevice();
  const limits = { maxSendWr: maxQpWr, maxRecvWr: maxQpWr, maxSendSge: maxSge, maxRecvSge: maxSge } as const;
  for (const [name, limit] of Object.entries(limits)) {
    const asked = cap[name as keyof typeof limits] ?? 0;
    if (asked > limit) {
      const of = limit === maxQpWr && name.endsWith('Wr') ? 'maxQpWr' : 'maxSge';
      return `attr.cap.${name} is ${asked}, above ${of} of queryDevice(), ${limit}`;
    }
  }
  if ((cap.maxInlineData ?? 0) !== 0) {
    return `attr.cap.maxInlineData is ${cap.maxInlineData}, which the device may not have: the rest of cap is within its limits`;
  }
  return undefined;
}
