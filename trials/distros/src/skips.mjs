// The tests of rdma-core that are skipped here, and why that is so: a skip that no line covers is new, and the table says so.

/**
 * @typedef {object} Skip
 * @property {'soft' | 'mlx5'} device
 * @property {RegExp} says what the suite gives as the reason
 * @property {RegExp} [of] the names of the tests, where the suite says the same of others
 * @property {'feature' | 'hardware' | 'machine' | 'suite'} whose it is: a feature that the device could have and has not; what no
 *   software has; what this machine lacks; the suite's own
 * @property {string} why
 * @property {Record<string, number>} most how many of each release are skipped for it: some tests choose their flags at random
 */

const noCuda = 'they need the memory of a GPU';

/** @type {Skip[]} */
const skips = [
  {
    device: 'soft',
    says: /Failed to modify QP/,
    of: /rate_limit/,
    whose: 'feature',
    why: 'no rate limits (ibv_modify_qp_rate_limit)',
    most: { sid: 1 },
  },
  {
    device: 'soft',
    says: /renderD128/,
    whose: 'machine',
    why: "they need a GPU's render node; those of rdma-core 56 fail with one, by a fault of their own",
    most: { bookworm: 10, trixie: 10, sid: 10 },
  },
  {
    device: 'soft',
    says: /huge pages/,
    whose: 'machine',
    why: 'they need huge pages, which root gives them for the run',
    most: { bookworm: 3, trixie: 3, sid: 4 },
  },
  { device: 'soft', says: /cuda/i, whose: 'hardware', why: noCuda, most: { bookworm: 1, trixie: 1, sid: 3 } },
  {
    device: 'soft',
    says: /CC_DMA_BOUNCE/,
    whose: 'hardware',
    why: 'they need a device that cannot reach the memory of a confidential virtual machine',
    most: { sid: 2 },
  },
  {
    device: 'soft',
    says: /No PHC/,
    whose: 'hardware',
    why: 'they need a clock in hardware (/dev/ptp)',
    most: { sid: 2 },
  },
  {
    device: 'mlx5',
    says: /Create Mlx5DV QP/,
    whose: 'feature',
    why: 'queue pairs with requests of mlx5dv: memory keys, signatures, copies, raw requests',
    most: { bookworm: 17, trixie: 17, sid: 17 },
  },
  {
    device: 'mlx5',
    says: /[Cc]rypto login/,
    whose: 'hardware',
    why: "they need the credentials of a card's crypto officer",
    most: { bookworm: 7, trixie: 7, sid: 7 },
  },
  {
    device: 'mlx5',
    says: /DC QP|DCI caps/,
    whose: 'feature',
    why: 'the dynamically connected transport',
    most: { bookworm: 9, trixie: 9, sid: 9 },
  },
  { device: 'mlx5', says: /cuda/i, whose: 'hardware', why: noCuda, most: { bookworm: 3, trixie: 3, sid: 3 } },
  {
    device: 'mlx5',
    says: /QP OOO/,
    whose: 'feature',
    why: 'receiving out of order, which the NIC does not announce',
    most: { trixie: 3, sid: 3 },
  },
  {
    device: 'mlx5',
    says: /geneve/,
    whose: 'feature',
    why: 'matches by options of GENEVE that are set at run time',
    most: { bookworm: 2, trixie: 2, sid: 2 },
  },
  {
    device: 'mlx5',
    says: /MEMIC/,
    whose: 'feature',
    why: 'atomic operations of the processor on device memory',
    most: { bookworm: 2, trixie: 2, sid: 2 },
  },
  {
    device: 'mlx5',
    says: /switchdev/,
    whose: 'feature',
    why: 'no e-switch',
    most: { bookworm: 2, trixie: 2, sid: 2 },
  },
  {
    device: 'mlx5',
    says: /CQE 128B/,
    whose: 'feature',
    why: 'compressed and padded entries of completion queues, which ordinary programs cannot see',
    most: { bookworm: 3, trixie: 3, sid: 3 },
  },
  {
    device: 'mlx5',
    says: /VAR/,
    whose: 'feature',
    why: 'doorbells of emulated devices (mlx5dv_alloc_var)',
    most: { bookworm: 1, trixie: 1, sid: 3 },
  },
  {
    device: 'mlx5',
    says: /schedule elements/,
    whose: 'feature',
    why: 'no scheduling of queue pairs (mlx5dv_sched_node_create)',
    most: { bookworm: 2, trixie: 2, sid: 2 },
  },
  {
    device: 'mlx5',
    says: /FDs file/,
    whose: 'machine',
    why: 'a privileged program has to give them its context',
    most: { sid: 3 },
  },
  {
    device: 'mlx5',
    says: /UAR dmabuf/,
    whose: 'feature',
    why: 'doorbell pages as dma-buf (mlx5dv_devx_uar_export_dmabuf_fd)',
    most: { sid: 1 },
  },
  {
    device: 'mlx5',
    says: /Failed to modify QP/,
    of: /rate_limit/,
    whose: 'feature',
    why: 'no rate limits (ibv_modify_qp_rate_limit)',
    most: { bookworm: 1, trixie: 1, sid: 1 },
  },
  {
    device: 'mlx5',
    says: /Raw Packet QP/,
    whose: 'feature',
    why: 'creation flags of raw queue pairs, of which the tests choose some at random',
    most: { bookworm: 6, trixie: 6, sid: 6 },
  },
  {
    device: 'mlx5',
    says: /ODPv2/,
    whose: 'feature',
    why: 'on-demand paging of the second version, by page requests of the device',
    most: { bookworm: 1, trixie: 1, sid: 1 },
  },
  {
    device: 'mlx5',
    says: /DMA-bounce/,
    whose: 'hardware',
    why: 'they need a device that cannot reach the memory of a confidential virtual machine',
    most: { sid: 1 },
  },
  {
    device: 'mlx5',
    says: /export UMEM/,
    whose: 'feature',
    why: 'registered memory of devx commands in two processes (mlx5dv_devx_umem_export)',
    most: { sid: 1 },
  },
  {
    device: 'mlx5',
    says: /HCA CAPs 2/,
    whose: 'feature',
    why: 'no second block of general capabilities: queues without doorbell records, counters of a bulk',
    most: { bookworm: 1, trixie: 1, sid: 2 },
  },
];

/**
 * @typedef {object} SkipCount
 * @property {string} device
 * @property {number} count
 * @property {string} whose
 * @property {string} why
 */

/**
 * Sorts skipped tests by their reasons.
 * @param {string} suite of the release
 * @param {string} device
 * @param {{ test: string, reason: string }[]} skipped
 * @returns {{ known: SkipCount[], news: string[] }} those with a reason here, and the lines of the others
 */
export function sortSkips(suite, device, skipped) {
  const lines = skips.filter((skip) => skip.device === device);
  const counts = new Map(lines.map((line) => [line, 0]));
  /** @type {string[]} */
  const news = [];
  for (const { test, reason } of skipped) {
    const line = lines.find(({ says, of }) => says.test(reason) && (of === undefined || of.test(test)));
    const count = line === undefined ? 0 : (counts.get(line) ?? 0);
    if (line === undefined || count >= (line.most[suite] ?? 0)) news.push(`${device}: ${test}: ${reason}`);
    else counts.set(line, count + 1);
  }
  const known = [...counts]
    .filter(([, count]) => count > 0)
    .map(([{ whose, why }, count]) => ({ device, count, whose, why }));
  return { known, news };
}
