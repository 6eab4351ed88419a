import { PortState, VerbsError } from '@verbs/core';
import * as hbl from '@verbs/hbl';

/** @import { Context } from '@verbs/core' */

/**
 * A port of the device, with what it has for encapsulations and doorbells: nothing while its network interface is down.
 * @typedef {object} Port
 * @property {number} port
 * @property {string} state
 * @property {string} gid
 * @property {number} encapsulations how many the port has
 * @property {number} fifos how many the port has
 * @property {number} queuePairs how many the port has
 * @property {number} usedQueuePairs
 */

/** All ports that the device opened. @param {Context} ctx @returns {Port[]} */
export function portsOf(ctx) {
  const { portsMask } = hbl.queryDevice(ctx);
  const { physPortCnt } = ctx.queryDevice();
  const numbers = Array.from({ length: physPortCnt }, (_, i) => i + 1).filter(
    (port) => ((portsMask >> BigInt(port)) & 1n) !== 0n,
  );
  return numbers.map((port) => {
    const limits = limitsOf(ctx, port);
    const { state } = ctx.queryPort(port);
    const name = Object.entries(PortState).find(([, value]) => value === state)?.[0] ?? String(state);
    return {
      port,
      state: limits === undefined ? 'DOWN' : name,
      gid: ctx.queryGid(port, 0),
      encapsulations: limits?.maxNumOfEncaps ?? 0,
      fifos: limits?.maxNumOfUsrFifos ?? 0,
      queuePairs: limits?.maxNumOfQps ?? 0,
      usedQueuePairs: limits?.numAllocatedQps ?? 0,
    };
  });
}

/** Undefined for a port whose network interface is down. @param {Context} ctx @param {number} port */
function limitsOf(ctx, port) {
  try {
    return hbl.queryPort(ctx, port);
  } catch (error) {
    if (error instanceof VerbsError && error.code === 'ENODEV') return undefined;
    throw error;
  }
}

/** @param {Port[]} ports */
export function portTable(ports) {
  const rows = [
    ['port', 'state', 'gid', 'encapsulations', 'FIFOs', 'queue pairs'],
    ...ports.map(({ port, state, gid, encapsulations, fifos, queuePairs, usedQueuePairs }) =>
      [port, state, gid, encapsulations, fifos, `${usedQueuePairs} of ${queuePairs}`].map(String),
    ),
  ];
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((text, i) => text.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
