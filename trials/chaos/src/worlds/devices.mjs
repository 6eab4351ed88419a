/** @import { World } from './world.mjs' */

/**
 * The packages whose connections are disturbed; `libibverbs` is a program in C, `plain` the soak's control, which uses no
 * device.
 * @typedef {'core' | 'libibverbs' | 'ud' | 'rdmacm' | 'mlx5' | 'hbl' | 'doca-comm' | 'plain'} Package
 */

/** @type {Record<Package, (end: number) => { name: string, options: string }>} */
const kinds = {
  core: (end) => ({ name: `soft${end}`, options: 'kind=roce' }),
  libibverbs: (end) => ({ name: `soft${end}`, options: 'kind=roce' }),
  ud: (end) => ({ name: `soft${end}`, options: 'kind=roce' }),
  plain: (end) => ({ name: `soft${end}`, options: 'kind=roce' }),
  rdmacm: (end) => ({ name: `soft${end}`, options: 'kind=roce' }),
  mlx5: (end) => ({ name: `mlx5_soft${end}`, options: 'kind=mlx5' }),
  hbl: (end) => ({ name: `hbl_${end}`, options: 'kind=hbl,ports=1' }),
  'doca-comm': (end) => ({
    name: end === 0 ? 'doca_host0' : 'doca_dpu0',
    options: `kind=doca,role=${end === 0 ? 'host' : 'dpu'},pci=5f5f:${end === 0 ? '3b' : '03'}:00.0`,
  }),
};

/**
 * The device of an end, and its configuration as text.
 * @param {Package} name @param {World} world @param {number} end @param {string} [more] further options
 */
export function deviceOf(name, world, end, more = '') {
  const device = kinds[name](end);
  const address = (/** @type {number} */ of) => world.places[of]?.address ?? '';
  const route = name !== 'doca-comm' ? '' : end === 0 ? `,dpu=${address(1)}` : `,reps=5f5f:3b:00.0@${address(0)}`;
  const text = `${device.name},${device.options},addr=${address(end)},${world.options}${route}${more}`;
  return { name: device.name, text };
}
