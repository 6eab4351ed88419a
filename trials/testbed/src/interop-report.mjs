/** @import { Result } from './pairing.mjs' */
/** @import { WireReport } from './capture.mjs' */

/**
 * The table at the end: what passed in each part, direction and family, and every failure.
 * @param {readonly Result[]} results
 * @param {WireReport} wire
 * @param {string} kernel
 */
export function interopReport(results, wire, kernel) {
  const lines = [`Our NIC and rxe of Linux ${kernel}`, ''];
  const columns = /** @type {const} */ ([
    ['ours to rxe', 4],
    ['ours to rxe', 6],
    ['rxe to ours', 4],
    ['rxe to ours', 6],
  ]);
  lines.push(
    row(
      '',
      columns.map(([direction, family]) => `${direction} IPv${family}`),
    ),
  );
  for (const part of new Set(results.map((result) => result.part))) {
    const cells = columns.map(([direction, family]) => {
      const some = results.filter((one) => one.part === part && one.direction === direction && one.family === family);
      return `${some.filter(({ failure }) => failure === null).length} of ${some.length}`;
    });
    lines.push(row(part, cells));
  }
  lines.push('');
  for (const { part, name, direction, family, failure } of results) {
    if (failure !== null) lines.push(`FAILED ${part}, ${direction}, IPv${family}: ${name}: ${failure}`);
  }
  for (const finding of wire.findings) lines.push(`WRONG ON THE WIRE: ${finding}`);
  const failed = results.filter(({ failure }) => failure !== null).length;
  lines.push(`${results.length - failed} of ${results.length} passed; ${wireLine(wire)}`);
  return { text: lines.join('\n'), ok: failed === 0 && wire.findings.length === 0 && results.length > 0 };
}

/** @param {WireReport} wire */
function wireLine({ frames, findings }) {
  if (frames === 0) return 'no frames were checked';
  return `${frames} frames checked by tshark and an ICRC that is not ours, ${findings.length === 0 ? 'none' : 'some'} wrong`;
}

/**
 * @param {string} title
 * @param {string[]} cells
 */
function row(title, cells) {
  return [title.padEnd(10), ...cells.map((cell) => cell.padEnd(18))].join('  ').trimEnd();
}
