const PORT = 'ports count from 1: see portsMask of queryDevice(ctx) and openDevice';
const FIRST = 'call setPortEx(ctx, { portNum }) first: it comes before everything else on a port';

/** What mostly helps, by function. */
const hints: Readonly<Record<string, string>> = {
  hbldv_set_port_ex: `EPERM: a port is set up once, and by a default open already; EINVAL: ${PORT}`,
  hbldv_query_port: `EINVAL: ${PORT}`,
  hbldv_create_encap: `EPERM: ${FIRST}; EBUSY: the port has no free encapsulation; EOPNOTSUPP: a gaudi2 has ENC_OVER_UDP with a header of exactly 32 bytes only; EINVAL: ${PORT}`,
  hbldv_create_usr_fifo: `EPERM: ${FIRST}; EBUSY: the number of the hint is taken, or none is left; EINVAL: ${PORT}, FIFO numbers are 1 to maxNumOfUsrFifos`,
  hbldv_create_cq: `EPERM: ${FIRST}; EOPNOTSUPP: a congestion-control queue needs PortCaps.ADVANCED; EBUSY: the port has no free queue; EINVAL: ${PORT}`,
  hbldv_modify_qp:
    'the attributes must fit the transition; encapNum needs QpCaps.ENCAP, at RTR and at RTS; priority is 1 to 3 at RTS; wqType is needed at INIT',
};

export function hintFor(syscall: string): { hint: string | undefined } {
  return { hint: hints[syscall] };
}
