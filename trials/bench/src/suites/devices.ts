// The software NIC's configurations that the contenders share.

/** Over UDP on loopback. */
export const UDP = 'soft0,link=udp,mtu=4096';
/** Over shared memory. */
export const SHM = 'soft0,link=shm,mtu=4096';
/** Directly from one device to the other, both in one process: no system call, no other process. */
export const LOCAL = 'soft0,link=process,mtu=4096;soft1,link=process,mtu=4096';

/** The BlueField pair, over a link. */
export const bluefield = (link: 'udp' | 'shm') =>
  `doca_host0,kind=doca,role=host,link=${link};doca_dpu0,kind=doca,role=dpu,link=${link}`;
