/** ibv_devinfo's names of enumeration values, unknown ones included. */
type Names = Readonly<Record<number, string>>;

const named = (names: Names, fallback: string) => (value: number) => names[value] ?? fallback;

export const transportName = named(
  { 0: 'InfiniBand', 1: 'iWARP', 2: 'usNIC', 3: 'usNIC UDP', 4: 'unspecified' },
  'invalid transport',
);

export const portStateName = named(
  { 1: 'PORT_DOWN', 2: 'PORT_INIT', 3: 'PORT_ARMED', 4: 'PORT_ACTIVE' },
  'invalid state',
);

export const physStateName = named(
  {
    1: 'SLEEP',
    2: 'POLLING',
    3: 'DISABLED',
    // Misspelt in ibv_devinfo since its beginning; scripts match it.
    4: 'PORT_CONFIGURATION TRAINNING',
    5: 'LINK_UP',
    6: 'LINK_ERROR_RECOVERY',
    7: 'PHY TEST',
  },
  'invalid physical state',
);

export const atomicCapName = named(
  { 0: 'ATOMIC_NONE', 1: 'ATOMIC_HCA', 2: 'ATOMIC_GLOB' },
  'invalid atomic capability',
);

export const mtuName = named({ 1: '256', 2: '512', 3: '1024', 4: '2048', 5: '4096' }, 'invalid MTU');

export const widthName = named({ 1: '1', 2: '4', 4: '8', 8: '12', 16: '2' }, 'invalid width');

export const speedName = named(
  {
    1: '2.5 Gbps',
    2: '5.0 Gbps',
    4: '10.0 Gbps',
    8: '10.0 Gbps',
    16: '14.0 Gbps',
    32: '25.0 Gbps',
    64: '50.0 Gbps',
    128: '100.0 Gbps',
  },
  'invalid speed',
);

export const virtualLanesName = named({ 1: '1', 2: '2', 3: '4', 4: '8', 5: '15' }, 'invalid value');

export const linkLayerName = named({ 0: 'Unspecified', 1: 'InfiniBand', 2: 'Ethernet' }, 'Unknown');

/** ibv_device_cap_flags, lowest bit first. */
export const DEVICE_CAP_FLAGS: ReadonlyMap<number, string> = new Map([
  [0, 'RESIZE_MAX_WR'],
  [1, 'BAD_PKEY_CNTR'],
  [2, 'BAD_QKEY_CNTR'],
  [3, 'RAW_MULTI'],
  [4, 'AUTO_PATH_MIG'],
  [5, 'CHANGE_PHY_PORT'],
  [6, 'UD_AV_PORT_ENFORCE'],
  [7, 'CURR_QP_STATE_MOD'],
  [8, 'SHUTDOWN_PORT'],
  [9, 'INIT_TYPE'],
  [10, 'PORT_ACTIVE_EVENT'],
  [11, 'SYS_IMAGE_GUID'],
  [12, 'RC_RNR_NAK_GEN'],
  [13, 'SRQ_RESIZE'],
  [14, 'N_NOTIFY_CQ'],
  [17, 'MEM_WINDOW'],
  [18, 'UD_IP_CSUM'],
  [20, 'XRC'],
  [21, 'MEM_MGT_EXTENSIONS'],
  [23, 'MEM_WINDOW_TYPE_2A'],
  [24, 'MEM_WINDOW_TYPE_2B'],
  [25, 'RC_IP_CSUM'],
  [26, 'RAW_IP_CSUM'],
  [29, 'MANAGED_FLOW_STEERING'],
]);
