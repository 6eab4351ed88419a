import type { Hints } from '@verbs/core/provider';

const PORT = 'ports count from 1, and only those of the context are there: see portsMask of queryDevice(ctx)';
const FIRST = 'call setPortEx(ctx, { portNum }) first: it precedes every other call on a port';
const CLOSED = 'the network interface of the port is down';

const SDK =
  "this device or its library does not have it: of the two libhbl, the Gaudi SDK's has collectives and migration";
const LONGER = 'libhbl fills a structure that this version of @verbs/hbl does not know: update the package';

/** Remedies by C function and error code. */
export const hints: Hints = {
  hbldv_open_device: {
    EINVAL:
      'ports are a bit mask of the ports of the device, and attr needs coreFd, the descriptor of /dev/accel/accelN ' +
      'that the program has open; without attr the library opens the device itself',
    EBUSY:
      'another program has the accelerator open, or this one has a context of it, or the default one of another ' +
      'accelerator: close that first',
    EPERM: 'this user may not open the device: see the permissions of /dev/infiniband and /dev/accel',
    EACCES: 'this user may not open the device: see the permissions of /dev/infiniband and /dev/accel',
    ENOENT: '/dev/accel/accelN of the device is not there: is the driver of the accelerator loaded?',
  },
  hbldv_query_device: { EPROTO: LONGER },
  hbldv_migrate_qp: { EOPNOTSUPP: SDK },
  hbldv_reserve_coll_qps: { EOPNOTSUPP: SDK, EPROTO: LONGER },
  hbldv_reserve_coll_sched_resources: { EOPNOTSUPP: SDK, EPROTO: LONGER },
  hbldv_query_cq: { EPROTO: LONGER },
  hbldv_query_qp: { EPROTO: LONGER },
  hbldv_set_port_ex: {
    EOPNOTSUPP: SDK,
    EPERM: 'a port is set up exactly once, and a default open (without attr) has set all of them up',
    EINVAL: `${PORT}; work queues have 16 to 32768 entries; the first two offsets need PortCaps.ADVANCED`,
    ENODEV: CLOSED,
  },
  hbldv_query_port: { EINVAL: PORT, ENODEV: CLOSED, EPROTO: LONGER },
  hbldv_create_encap: {
    EPERM: FIRST,
    EBUSY: 'the port has no free encapsulation: close one',
    ENOMEM: 'the port has no free encapsulation, or memory is short: close one',
    EINVAL: `${PORT}; the header has 0 to 32 bytes in steps of 4`,
    EOPNOTSUPP: 'this device encapsulates with EncapType.ENC_OVER_UDP and a header of exactly 32 bytes only',
    ENODEV: CLOSED,
  },
  hbldv_create_usr_fifo: {
    EOPNOTSUPP: SDK,
    EPERM: FIRST,
    EBUSY: 'the number of the hint is taken, or none is left: close one, or give no hint',
    EINVAL: `${PORT}; numbers are 1 to maxNumOfUsrFifos of queryPort(); types are those of UsrFifoType`,
    ENODEV: CLOSED,
  },
  hbldv_create_cq: {
    EPERM: FIRST,
    EBUSY: 'the port has no free queue of this type: close one',
    EINVAL: `${PORT}; cqe is 1 to 8192; types are those of CqType`,
    EOPNOTSUPP: 'a queue for congestion control needs PortCaps.ADVANCED in setPortEx',
    ENODEV: CLOSED,
  },
  hbldv_modify_qp: {
    EOPNOTSUPP: SDK,
    EINVAL:
      'the attributes do not fit this transition: wqType counts at INIT; at RTS destWqSize of a rendezvous queue pair is a ' +
      'power of two, at least four times its maxSendWr, which the work queues of the port must hold; without hblAttr ' +
      'there are only INIT, RTR and RTS: give {} for other states',
  },
};
