import { members, type Members } from './members.js';

enum AccessFlagsValue {
  /**
   * `IBV_ACCESS_LOCAL_WRITE`: the device may write here for this side: receives, and the results of reads and atomics.
   */
  LOCAL_WRITE = 1,
  /** `IBV_ACCESS_REMOTE_WRITE`: peers may RDMA_WRITE. Needs LOCAL_WRITE. */
  REMOTE_WRITE = 1 << 1,
  /** `IBV_ACCESS_REMOTE_READ`: peers may RDMA_READ. */
  REMOTE_READ = 1 << 2,
  /** `IBV_ACCESS_REMOTE_ATOMIC`: peers may run atomics. Needs LOCAL_WRITE. */
  REMOTE_ATOMIC = 1 << 3,
  /** `IBV_ACCESS_MW_BIND`: memory windows may be bound to parts of the region. */
  MW_BIND = 1 << 4,
  /** `IBV_ACCESS_ZERO_BASED`: remote addresses count from the start of the region or window, not from its address. */
  ZERO_BASED = 1 << 5,
  /** `IBV_ACCESS_ON_DEMAND`: pages are not pinned but brought in when used; see {@link DeviceAttrEx.odpCaps}. */
  ON_DEMAND = 1 << 6,
  /** `IBV_ACCESS_HUGETLB`: a promise that all of an ON_DEMAND region is in huge pages. */
  HUGETLB = 1 << 7,
  /** `IBV_ACCESS_FLUSH_GLOBAL`: peers may ask by WrOpcode.FLUSH when their writes are visible to everybody. */
  FLUSH_GLOBAL = 1 << 8,
  /** `IBV_ACCESS_FLUSH_PERSISTENT`: peers may ask by WrOpcode.FLUSH when their writes are persistent. */
  FLUSH_PERSISTENT = 1 << 9,
  /** `IBV_ACCESS_RELAXED_ORDERING`: PCI may reorder the device's writes; a hint that is ignored where unknown. */
  RELAXED_ORDERING = 1 << 20,
}
/**
 * Permissions of a memory region, a memory window or a queue pair (`enum ibv_access_flags`), to be or-ed. Local reading
 * is always allowed.
 *
 * @example const mr = pd.allocMr(4096, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ);
 */
export const AccessFlags: Members<typeof AccessFlagsValue> = members(AccessFlagsValue);
/** Or-ed values of {@link AccessFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type AccessFlags = AccessFlagsValue | 0;

enum MwTypeValue {
  /** `IBV_MW_TYPE_1`: bound by `qp.bindMw`; every queue pair of the domain may be addressed with its key. */
  TYPE_1 = 1,
  /** `IBV_MW_TYPE_2`: bound by a BIND_MW request, to one queue pair. */
  TYPE_2 = 2,
}
/** `enum ibv_mw_type`: how a memory window is bound. */
export const MwType: Members<typeof MwTypeValue> = members(MwTypeValue);
/** A value of {@link MwType}. A number that comes from C is one as well; another enumeration's value is not. */
export type MwType = MwTypeValue;

enum MrAdviceValue {
  /** `IBV_ADVISE_MR_ADVICE_PREFETCH`: bring the pages in, for reading. */
  PREFETCH = 0,
  /** `IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE`: bring the pages in, for writing. */
  PREFETCH_WRITE = 1,
  /** `IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT`: map the pages that are in memory already; cause no page fault. */
  PREFETCH_NO_FAULT = 2,
}
/** `enum ibv_advise_mr_advice`: the advice of `pd.adviseMr`, for regions with AccessFlags.ON_DEMAND. */
export const MrAdvice: Members<typeof MrAdviceValue> = members(MrAdviceValue);
/** A value of {@link MrAdvice}. A number that comes from C is one as well; another enumeration's value is not. */
export type MrAdvice = MrAdviceValue;

enum MrAdviceFlagsValue {
  /** `IBV_ADVISE_MR_FLAG_FLUSH`: return when it is done, with its errors. Without it the call only asks. */
  FLUSH = 1,
}
/** Whether `pd.adviseMr` waits until it is done (`enum ibv_advise_mr_flags`). */
export const MrAdviceFlags: Members<typeof MrAdviceFlagsValue> = members(MrAdviceFlagsValue);
/** Or-ed values of {@link MrAdviceFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type MrAdviceFlags = MrAdviceFlagsValue | 0;

enum TphMemTypeValue {
  /** `IBV_TPH_MEM_TYPE_VM`: volatile. */
  VM = 0,
  /** `IBV_TPH_MEM_TYPE_PM`: persistent. */
  PM = 1,
}
/** `enum ibv_tph_mem_type`: the memory of a processor that `ctx.allocDmah` is about. */
export const TphMemType: Members<typeof TphMemTypeValue> = members(TphMemTypeValue);
/** A value of {@link TphMemType}. A number that comes from C is one as well; another enumeration's value is not. */
export type TphMemType = TphMemTypeValue;
