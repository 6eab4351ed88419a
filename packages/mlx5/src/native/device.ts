import type { Libibverbs, NativeHandle, NativeLibrary } from './handles.js';

/** `struct mlx5dv_context`, without its pointer to the clock's page. Fields without their bit in `compMask` are 0. */
export interface Mlx5DeviceAttr {
  /** Of the completion queue entries. */
  version: number;
  /** {@link ContextFlags}, or-ed. */
  flags: bigint;
  /** {@link ContextMask}, or-ed: the fields that the device reports. */
  compMask: bigint;
  /** Compressed completions: several in one entry. */
  cqeCompCaps: {
    /** Completions in an entry; 0: no compression. */
    maxNum: number;
    /** {@link CqeCompResFormat}, or-ed. */
    supportedFormat: number;
  };
  /** Offloads for headers whose offsets the program gives. */
  swParsingCaps: {
    /** 1 supported, 2 checksums, 4 segmentation. */
    swParsingOffloads: number;
    /** A bit for each QpType. */
    supportedQpts: number;
  };
  /** Receive queues that put several packets into one buffer: see {@link Mlx5WqInitAttr}. */
  stridingRqCaps: {
    /** The least bytes of a stride, as a power of two. */
    minSingleStrideLogNumOfBytes: number;
    /** The most bytes of a stride, as a power of two. */
    maxSingleStrideLogNumOfBytes: number;
    /** The fewest strides of a receive request, as a power of two. */
    minSingleWqeLogNumOfStrides: number;
    /** The most strides of a receive request, as a power of two. */
    maxSingleWqeLogNumOfStrides: number;
    /** A bit for each QpType. */
    supportedQpts: number;
  };
  /**
   * Tunnels that the checksum and segmentation offloads of RAW_PACKET queue pairs support: 1 VXLAN, 2 GRE, 4 GENEVE,
   * 8 and 16 MPLS over GRE and over UDP.
   */
  tunnelOffloadsCaps: number;
  /** Doorbell registers that a program may allocate, for thread domains. */
  maxDynamicBfregs: number;
  /** The time for which a {@link ClockInfo} is valid. */
  maxClockInfoUpdateNsec: bigint;
  /** The device's flow actions for ESP. */
  flowActionFlags: number;
  /** Operations of DC on regions with ON_DEMAND, as `rcOdpCaps` of `ctx.queryDeviceEx()`. */
  dcOdpCaps: number;
  /** Ports of the link aggregation group; 0 without one. */
  numLagPorts: number;
  /** Signatures of blocks. */
  sigCaps: {
    /** A bit for each size: 512, 520, 4048, 4096 and 4160 bytes. */
    blockSize: bigint;
    /** 1 T10-DIF, 2 CRC. */
    blockProt: number;
    /** Guards of T10-DIF: 1 CRC, 2 checksum. */
    t10difBg: number;
    /** 1 CRC-32, 2 CRC-32C, 4 CRC-64 XP10. */
    crcType: number;
  };
  /** Streams of a DCI. */
  dciStreamsCaps: {
    /** Streams, as a power of two. */
    maxLogNumConcurent: number;
    /** Streams that may fail before the queue pair does, as a power of two. */
    maxLogNumErrored: number;
  };
  /** Bytes of a memcpy work request. */
  maxWrMemcpyLength: number;
  /** Encryption. */
  cryptoCaps: {
    /** Not 0: an engine failed its self-test. */
    failedSelftests: number;
    /** 1 and 2 AES-XTS of one block at a time, 4 of several. */
    cryptoEngines: number;
    /** 1: keys for AES-XTS must be wrapped. */
    wrappedImportMethod: number;
    /** Data encryption keys, as a power of two. */
    logMaxNumDeks: number;
    /** 1 encryption, 2 wrapped keys are usable, 4 the device is being commissioned for wrapped keys. */
    flags: number;
  };
}

/** `struct mlx5dv_clock_info`: converts the device's ticks to nanoseconds. */
export interface ClockInfo {
  /** Nanoseconds at `lastCycles`. */
  nsec: bigint;
  /** The device's ticks at `nsec`. */
  lastCycles: bigint;
  /** The part of a nanosecond at `lastCycles`, in units of 2^-shift. */
  frac: bigint;
  /** Nanoseconds of a tick, times 2^shift. */
  mult: number;
  /** See `mult`. */
  shift: number;
  /** The bits of the device's counter. */
  mask: bigint;
}

export interface NativePort {
  flags: bigint;
  vport: number;
  vportVhcaId: number;
  eswOwnerVhcaId: number;
  vportSteeringIcmRx: bigint;
  vportSteeringIcmTx: bigint;
  regC0Value: number;
  regC0Mask: number;
}

/** Of native/binding/device.cc. */
export interface NativeDevice {
  isSupported(library: NativeLibrary, libibverbs: Libibverbs, name: string): boolean;
  isMlx5(library: NativeLibrary, context: NativeHandle): boolean;
  openDevice(
    library: NativeLibrary,
    libibverbs: Libibverbs,
    name: string,
    flags: number | undefined,
  ): NativeHandle | number;
  queryDevice(library: NativeLibrary, context: NativeHandle): Mlx5DeviceAttr | number;
  queryPort(library: NativeLibrary, context: NativeHandle, portNum: number): NativePort | number;
  getClockInfo(library: NativeLibrary, context: NativeHandle): ClockInfo | number;
  reservedQpnAlloc(library: NativeLibrary, context: NativeHandle): number;
  reservedQpnDealloc(library: NativeLibrary, context: NativeHandle, qpn: number): number;
  getDataDirectSysfsPath(library: NativeLibrary, context: NativeHandle): string | number;
}
