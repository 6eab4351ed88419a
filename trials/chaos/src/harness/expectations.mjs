/** @import { Package } from '../worlds/devices.mjs' */

/**
 * What may happen to an end, in words that hold for every package:
 * ok: it goes on; gone: the peer does not answer any more; flushed: the connection was ended under its requests;
 * local: its own memory is not accessible; remote: the peer's memory is not.
 * @typedef {'ok' | 'gone' | 'flushed' | 'local' | 'remote'} Effect
 */

/** @type {Record<Effect, string[]>} */
const statuses = {
  ok: ['ok'],
  gone: ['RETRY_EXC_ERR'],
  flushed: ['WR_FLUSH_ERR'],
  local: ['LOC_PROT_ERR', 'LOC_ACCESS_ERR'],
  remote: ['REM_ACCESS_ERR', 'REM_OP_ERR'],
};

/** @type {Record<Effect, string[]>} */
const channel = {
  ok: ['ok'],
  gone: ['DOCA_ERROR_CONNECTION_RESET'],
  flushed: ['DOCA_ERROR_CONNECTION_RESET', 'DOCA_ERROR_NOT_CONNECTED'],
  local: [],
  remote: [],
};

/**
 * The first errors that an end of the package may report after such an effect; `ok` for none.
 * @param {Package} name @param {Effect[]} effects
 */
export function firstStatuses(name, effects) {
  const table = name === 'doca-comm' ? channel : statuses;
  // The connection manager ends a connection on both sides.
  const all = name === 'rdmacm' && effects.includes('gone') ? [...effects, /** @type {const} */ ('flushed')] : effects;
  return new Set(all.flatMap((effect) => table[effect]));
}
