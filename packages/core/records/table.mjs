/**
 * The records in which work requests and completions cross the border between JavaScript and the addon: the one source
 * of native/binding/posting/records.h and src/base/records.ts. `pnpm run records` writes both.
 *
 * Fields lie one behind the other, in this order, each aligned to its size. Little-endian.
 */

/** @typedef {'u8' | 'u16' | 'u32' | 'u64'} Width */
/** @typedef {{ name: string, width: Width, note?: string }} Field */
/** @typedef {{ struct: string, constant: string, about: string, fields: Field[] }} RecordType */
/** @typedef {{ name: string, value: number, note: string }} Constant */

/**
 * @param {Width} width
 * @param {string} name
 * @param {string} [note]
 * @returns {Field}
 */
const field = (width, name, note) => (note === undefined ? { name, width } : { name, width, note });

/** @type {readonly RecordType[]} */
export const records = [
  {
    struct: 'BatchHeader',
    constant: 'HEADER',
    about: 'The header of a batch. A post call reads `first` and `slot`, and writes `posted` and `sge`.',
    fields: [
      field('u32', 'posted', 'number of requests that the C library took'),
      field('u32', 'sge', 'index of the element at fault; after an errno that of the request, behind the posted ones'),
      field('u32', 'first', 'slot of the first request'),
      field('u32', 'slot', 'bytes of a slot; 0: the records lie one behind the other'),
    ],
  },
  {
    struct: 'SendRecord',
    constant: 'SEND',
    about:
      'A send work request (ibv_send_wr). BIND_MW uses remote_addr as the offset in its region, compare_add as the length; FLUSH has its length there, too.',
    fields: [
      field('u64', 'wr_id'),
      field('u64', 'remote_addr'),
      field('u64', 'compare_add'),
      field('u64', 'swap'),
      field('u32', 'opcode'),
      field('u32', 'send_flags'),
      field('u32', 'imm_data', 'host order; INV: the rkey; BIND_MW: access flags; FLUSH: type | level << 8'),
      field('u32', 'rkey', 'BIND_MW: the new rkey of the window'),
      field('u32', 'address_handle', 'id, 0 for none'),
      field('u32', 'remote_qpn'),
      field('u32', 'remote_qkey'),
      field('u32', 'num_sge'),
      field('u32', 'flags', 'RecordFlag'),
      field('u32', 'remote_srqn', 'XRC'),
      field('u32', 'memory_window', 'BIND_MW: id'),
      field('u32', 'memory_region', 'BIND_MW: id, 0 to unbind'),
    ],
  },
  {
    struct: 'RecvRecord',
    constant: 'RECV',
    about: 'A receive work request (ibv_recv_wr).',
    fields: [field('u64', 'wr_id'), field('u32', 'num_sge'), field('u32', 'flags', 'RecordFlag')],
  },
  {
    struct: 'SgeRecord',
    constant: 'SGE',
    about: 'A scatter/gather element (ibv_sge).',
    fields: [
      field('u64', 'offset', 'from the start of the memory region'),
      field('u32', 'memory_region', 'id'),
      field('u32', 'length'),
    ],
  },
  {
    struct: 'CompletionRecord',
    constant: 'COMPLETION',
    about: 'A work completion (ibv_wc).',
    fields: [
      field('u64', 'wr_id'),
      field('u32', 'status'),
      field('u32', 'opcode'),
      field('u32', 'vendor_err', 'of a failure; of a success the flow tag, or the context of a matched tag'),
      field('u32', 'byte_len'),
      field('u32', 'imm_data', 'host order; with IBV_WC_WITH_INV the rkey that was invalidated'),
      field('u32', 'qp_num'),
      field('u32', 'src_qp', 'of a matched tag its lower half'),
      field('u32', 'wc_flags'),
      field('u16', 'pkey_index', 'with slid the upper half of a matched tag'),
      field('u16', 'slid'),
      field('u8', 'sl'),
      field('u8', 'dlid_path_bits'),
      field('u16', 'flags', 'RecordFlag'),
      field('u64', 'timestamp', "ticks of the device's clock, if the completion queue reports them"),
      field('u64', 'wallclock_ns', 'likewise, in nanoseconds'),
    ],
  },
];

/** @type {readonly Constant[]} */
export const recordFlags = [
  { name: 'ID_IS_NUMBER', value: 1, note: 'wrId was a number and goes back as one, not as a bigint' },
  { name: 'WRITTEN', value: 2, note: 'the slot holds a request' },
  { name: 'HAS_TAG', value: 4, note: 'the completion is of a message whose tag has matched (ibv_wc_tm_info)' },
];

/** @type {readonly Constant[]} */
export const postErrors = [
  { name: 'TRUNCATED', value: -1, note: 'the batch is shorter than its records say' },
  { name: 'TOO_MANY_SGE', value: -2, note: 'the request has more elements than the queue has room for' },
  { name: 'NO_MEMORY_REGION', value: -3, note: 'the region is closed, or of another environment or device' },
  { name: 'OUT_OF_BOUNDS', value: -4, note: 'the element reaches past the end of its region' },
  { name: 'BAD_OPCODE', value: -5, note: 'this call does not carry the opcode' },
  { name: 'NO_ADDRESS', value: -6, note: 'the address handle is closed, missing, or of another device' },
  { name: 'QUEUE_FULL', value: -7, note: 'the queue has no room for a further outstanding request' },
  { name: 'NO_MEMORY_WINDOW', value: -8, note: 'the window is closed, missing, or of another device' },
  { name: 'BAD_LENGTH', value: -9, note: 'ATOMIC_WRITE without exactly one element of 8 bytes' },
  { name: 'NOT_WRITTEN', value: -10, note: 'the slot holds no request' },
  { name: 'OTHER_DOMAIN', value: -11, note: 'the address handle is of another protection domain' },
  {
    name: 'NO_LOCAL_MEMORY',
    value: -12,
    note: 'the process has no memory of the region, from which inline data could be taken',
  },
];
