const RAISE_MEMLOCK = 'the limit of locked memory may be too low (see "ulimit -l"), or memory is short';
const LONGER = 'the library fills a longer structure than this version of @verbs/core has room for: update the package';

const FROM_WC = {
  EPROTO: LONGER,
  EINVAL:
    'check that portNum exists; a RoCE port needs a routing header: wcFlags with GRH, and the first 40 bytes of the ' +
    'receive buffer as grh',
  EPROTONOSUPPORT: 'grh is not a routing header: give the first 40 bytes of the receive buffer of that completion',
  ENOENT: "no GID of the port is the routing header's destination: check that grh is of the completion, and portNum",
};

/** Remedies by C function and error code: `{ ibv_reg_mr: { EFAULT: '…' } }`. */
export type Hints = Readonly<Record<string, Readonly<Record<string, string>>>>;

const NO_COUNTERS = 'the device has no completion counters, or its libibverbs is older than release 65';
const ofLibibverbs: Hints = {
  ibv_open_device: {
    EACCES: 'this user may not open the device: see the permissions of /dev/infiniband',
    EPERM: 'this user may not open the device: see the permissions of /dev/infiniband',
    EBUSY:
      'another program has the device open, or its library gives out the context of another device: close that first',
    EADDRINUSE: 'the address or UDP port 4791 is taken: "verbs doctor" names the holder',
  },
  ibv_reg_mr: {
    ENOMEM: RAISE_MEMLOCK,
    EAGAIN: RAISE_MEMLOCK,
    EFBIG: 'shared memory is a file, and the process may have none of this size (see "ulimit -f")',
    EFAULT: 'the memory is not mapped, or not writable although the access asks for writing',
    EINVAL:
      'REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE too; the length must not exceed maxMrSize; an iova needs the ' +
      'offset in its page that the memory has',
  },
  ibv_bind_mw: {
    EINVAL:
      'it takes a window of type 1, and a region with AccessFlags.MW_BIND; post a request with WrOpcode.BIND_MW for a window of type 2',
    EPERM: 'the window, the region and the queue pair must be of one protection domain',
  },
  ibv_dereg_mr: { EBUSY: 'a memory window is bound to the region: invalidate or close that first' },
  ibv_rereg_mr: { EINVAL: 'attr.pd must be of the context of the region, and access fit the memory' },
  ibv_reg_dm_mr: {
    EINVAL:
      'the device memory must be of the context of this protection domain, and have the bytes; REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE too',
  },
  ibv_advise_mr: {
    EINVAL: 'the elements must lie within regions of this protection domain, whose access allows the advice',
    EOPNOTSUPP: 'advice is one of AdviseMrAdvice, and the device need not take it',
  },
  ibv_memcpy_to_dm: { EINVAL: 'offset and length must be multiples of 4, and within the device memory' },
  ibv_memcpy_from_dm: { EINVAL: 'offset and length must be multiples of 4, and within the device memory' },
  ibv_create_cq: { EINVAL: 'compare cqe with maxCqe of queryDevice(), and compVector with the number of vectors' },
  ibv_resize_cq: {
    EINVAL: 'cqe is at most maxCqe of queryDevice(), and at least the completions that wait in the queue',
  },
  ibv_create_srq_ex: {
    EINVAL:
      'compare maxWr and maxSge with maxSrqWr and maxSrqSge of queryDevice(); a queue of type XRC needs xrcd and cq, one of ' +
      'type TM needs cq and tagMatching, all of the same context',
  },
  ibv_modify_srq: {
    EINVAL:
      'srqLimit is at most maxWr of the queue; a new maxWr is at most maxSrqWr of queryDevice(), and at least the requests that ' +
      'are posted',
  },
  ibv_create_qp: {
    EINVAL: 'compare cap with maxQpWr and maxSge of queryDevice(); all objects must belong to the same context',
    ENOMEM: 'compare cap with the limits of queryDevice(); locked memory may be short (see "ulimit -l")',
    EOPNOTSUPP: 'the device has no queue pairs of this type',
    EPERM: 'RAW_PACKET needs CAP_NET_RAW: run as root, or setcap cap_net_raw+ep on the node binary',
  },
  ibv_modify_qp: {
    EINVAL: 'the attributes do not fit this transition: RESET, INIT, RTR and RTS follow each other, each with its own',
    ETIMEDOUT: "the peer's link-layer address was not found: is the destination GID right, and reachable?",
    ENETUNREACH: 'there is no route to the destination GID',
    ENODATA: 'sgidIndex names an empty entry of the GID table: see ctx.gidTable(port)',
  },
  ibv_create_ah: {
    ENODATA: 'grh.sgidIndex names an empty entry of the GID table: see ctx.gidTable(port)',
    ETIMEDOUT: "the peer's link-layer address was not found: is grh.dgid right, and reachable?",
    ENETUNREACH: 'there is no route to grh.dgid',
  },
  ibv_init_ah_from_wc: FROM_WC,
  ibv_create_ah_from_wc: FROM_WC,
  ibv_post_send: {
    EINVAL:
      'the state of the queue pair, its type or its limits do not allow the request: it must be in RTS; memory windows of type 1 ' +
      'are bound by qp.bindMw, those of type 2 by a BIND_MW request',
    ENOMEM: 'the send queue is full: poll completions first, or raise cap.maxSendWr',
    EOPNOTSUPP:
      'the device does not post this operation this way; a queue pair that was created with sendOpsFlags posts those ' +
      'operations alone: name this one there too',
  },
  ibv_post_recv: {
    EINVAL: 'the state of the queue pair or its limits do not allow the request: it must be in INIT or later',
    ENOMEM: 'the receive queue is full: poll completions first, or raise cap.maxRecvWr',
  },
  ibv_post_srq_recv: {
    ENOMEM: 'the queue is full: take messages off it first, or raise its size by srq.modify({ maxWr })',
  },
  ibv_poll_cq: {
    EOPNOTSUPP: "the device has no ordinary completion queues: read completions by its vendor's functions",
    EIO:
      'more requests completed than the completion queue has entries, so that completions are lost: create it with one ' +
      'entry for each request that may be outstanding (cqe of createCq), and its queue pairs again',
  },
  ibv_alloc_buf: { EOPNOTSUPP: 'libibverbs has it since release 64; allocMr needs no such memory' },
  ibv_reg_buf_mr: {
    EOPNOTSUPP: 'libibverbs has it since release 64',
    EINVAL: 'the buffer must be of this protection domain; REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE too',
  },
  ibv_export_buf_dmabuf_fd: {
    EOPNOTSUPP: 'libibverbs has it since release 65',
    ENODATA: 'the buffer is ordinary memory and no dma-buf',
  },
  ibv_alloc_dmah: {
    EOPNOTSUPP: 'the device takes no hints for the bus (TPH), or its libibverbs is older than release 59',
    EINVAL: 'give ph, 0 to 3; cpuId, one of this machine, only together with tphMemType',
  },
  ibv_reg_mr_ex: {
    EOPNOTSUPP: 'the device does not register memory like this, or its libibverbs is older than release 59',
    EINVAL:
      'a buffer must be of this protection domain; REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE too; an iova needs ' +
      'the offset in its page that the memory has; hints do not go with ON_DEMAND',
  },
  ibv_dm_export_dmabuf_fd: { EOPNOTSUPP: 'the device cannot, or its libibverbs is older than release 62' },
  ibv_query_port_speed: { EOPNOTSUPP: 'the device does not tell, or its libibverbs is older than release 62' },
  ibv_create_comp_cntr: { EOPNOTSUPP: NO_COUNTERS },
  ibv_query_comp_cntr_caps: { EOPNOTSUPP: NO_COUNTERS },
  ibv_qp_attach_comp_cntr: {
    EINVAL: 'attach in RESET or INIT, to a counter of the same context, each operation to one counter only',
    EOPNOTSUPP: 'compare operations with supportedQpAttachOps of queryCompCntrCaps()',
  },
  ibv_create_flow: {
    EINVAL: 'a flow is of a RAW_PACKET queue pair; ports count from 1; a default flow has no specs',
    EOPNOTSUPP: 'the device has no flows, or none with such a specification, action or type',
    EEXIST: 'another flow of this priority has the same match and another action',
    EPERM: 'flows need CAP_NET_RAW: run as root, or setcap cap_net_raw+ep on the node binary',
  },
  ibv_create_rwq_ind_table: { EINVAL: 'give a power of two of queues, at most maxRwqIndirectionTableSize' },
  ibv_query_gid: { EINVAL: 'see physPortCnt of queryDevice() and gidTblLen of queryPort(port)' },
  ibv_query_device: { EPROTO: LONGER },
  ibv_query_device_ex: { EPROTO: LONGER },
  ibv_query_ece: { EPROTO: LONGER },
  ibv_query_qp: { EPROTO: LONGER },
  ibv_query_rt_values_ex: { EPROTO: LONGER },
  ibv_query_srq: { EPROTO: LONGER },
  ibv_query_port: { EPROTO: LONGER, EINVAL: 'ports count from 1 to physPortCnt of queryDevice()' },
  ibv_query_pkey: { EINVAL: 'see physPortCnt of queryDevice() and pkeyTblLen of queryPort(port)' },
  ibv_dealloc_pd: { EBUSY: 'something outside of this package still uses it: close that first' },
};

const byFunction = new Map(Object.entries(ofLibibverbs));

/** Adds the remedies for a provider's C functions: every VerbsError of these functions has them from now on. */
export function addHints(hints: Hints): void {
  for (const [syscall, byCode] of Object.entries(hints)) byFunction.set(syscall, byCode);
}

/** The remedy for that error of a C function, if one is known. */
export function hintFor(syscall: string, code: string): string | undefined {
  return byFunction.get(syscall)?.[code];
}
