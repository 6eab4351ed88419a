import type { Hints } from '@verbs/core/provider';

const PRIVATE_DATA =
  'private data has at most 56 bytes in a request (180 in a lookup), 196 in an accept (136 of a lookup), 148 in a reject';
const NO_DEVICE = 'no RDMA device has this address: see the addresses of ctx.gidTable(1)';
const ORDER = 'the identifier is not in the right state for this call';

/** Remedies by C function and error code. */
export const hints: Hints = {
  rdma_create_event_channel: {
    ENODEV: 'the kernel has no connection manager: load the module rdma_ucm',
    ENOENT: 'the kernel has no connection manager: load the module rdma_ucm',
    EACCES: 'this user may not open /dev/infiniband/rdma_cm: see its permissions',
  },
  rdma_bind_addr: {
    EADDRINUSE: 'another identifier has this port: choose another one, or set reuseAddr on both',
    EADDRNOTAVAIL: `${NO_DEVICE}; or another identifier has this port, and one of the two is for every address`,
    ENODEV: NO_DEVICE,
    EINVAL: ORDER,
    EACCES: 'ports below 1024 need CAP_NET_BIND_SERVICE',
  },
  rdma_resolve_addr: { ENODEV: NO_DEVICE, EADDRNOTAVAIL: NO_DEVICE, EINVAL: ORDER },
  rdma_resolve_route: { EINVAL: `${ORDER}: await ADDR_RESOLVED first` },
  rdma_resolve_addrinfo: {
    EOPNOTSUPP:
      'librdmacm has it since release 60, and AddrInfoFlags.SA is for InfiniBand; getaddrinfo() does the rest everywhere',
    ENOENT: 'the address was not found',
  },
  rdma_query_addrinfo: { EOPNOTSUPP: 'librdmacm has it since release 60' },
  rdma_write_cm_event: { EOPNOTSUPP: 'librdmacm has it since release 60' },
  rdma_listen: {
    EINVAL: ORDER,
    EADDRINUSE: 'another identifier has this address and port',
    EADDRNOTAVAIL: 'another identifier has this port, and one of the two is for every address',
  },
  rdma_connect: { EINVAL: `${ORDER}: await ROUTE_RESOLVED first; ${PRIVATE_DATA}` },
  rdma_accept: { EINVAL: `${ORDER}: the peer may have given up; ${PRIVATE_DATA}` },
  rdma_reject: { EINVAL: `${ORDER}; ${PRIVATE_DATA}` },
  rdma_disconnect: { EINVAL: 'there is no connection' },
  rdma_create_qp: {
    EINVAL:
      'the identifier must belong to the device of the protection domain (id.verbs) and have no queue pair yet; ' +
      'compare cap with maxQpWr and maxSge of queryDevice()',
    ENOMEM: 'compare cap with the limits of queryDevice(); locked memory may be short (see "ulimit -l")',
  },
};
