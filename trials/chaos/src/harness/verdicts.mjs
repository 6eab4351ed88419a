/** @import { Outcome } from '../disturbances/disturbance.mjs' */
/** @import { Package } from '../worlds/devices.mjs' */
/** @import { Scene } from './scene.mjs' */
/** @import { Victim } from './victim.mjs' */
import { STOP_MS } from './bounds.mjs';
import { firstStatuses } from './expectations.mjs';

/** @typedef {{ wrong: string[], statuses: string[], messages: number, sent: number, pending: number, bytes: number }} Report */

/** How long threads and descriptors may take to go. */
const LEFTOVERS_MS = 5000;

/** Messages of each side that a connection after the disturbance must carry. */
const RECOVERY_MESSAGES = 64;

/** What became of an end that cannot be asked. @param {number} end @param {Outcome} happened */
export function endOf(end, { dead = [] }) {
  return dead.includes(end) ? 'dead' : 'ended';
}

/**
 * No wrong byte, nothing lost, and the right error. Returns what each end saw first.
 * @param {object} options
 * @param {Package} options.name @param {Outcome} options.happened @param {number[]} options.ends
 * @param {Report[]} options.reports @param {string[]} options.problems
 */
export function judge({ name, happened, ends, reports, problems }) {
  /** @type {Record<number, string>} */
  const seen = {};
  ends.forEach((end, index) => {
    const report = /** @type {Report} */ (reports[index]);
    const first = report.statuses[0] ?? 'ok';
    seen[end] = first;
    for (const wrong of report.wrong) problems.push(`end ${end}: ${wrong}`);
    const allowed = firstStatuses(name, happened.effects[end] ?? []);
    if (!allowed.has(first)) problems.push(`end ${end} reports ${first} instead of ${[...allowed].join(' or ')}`);
    // After the first error everything that was posted is flushed, unless the NIC had answered it already.
    const later = report.statuses.slice(1).filter((status) => status !== 'WR_FLUSH_ERR' && !allowed.has(status));
    if (later.length > 0) problems.push(`end ${end} reports ${later.join(', ')} after ${first}`);
    if (report.pending > 0) problems.push(`end ${end} has ${report.pending} requests that never completed`);
  });
  const [one, two] = reports;
  if (ends.length === 2 && one !== undefined && two !== undefined && seen[0] === 'ok' && seen[1] === 'ok') {
    if (one.sent !== two.messages || two.sent !== one.messages)
      problems.push(
        `lost: ${one.sent} and ${two.sent} messages were sent, ${two.messages} and ${one.messages} received`,
      );
  }
  return seen;
}

/**
 * The same processes, or their successors, must be able to transfer.
 * @param {Scene} scene @param {string[]} problems
 */
export async function judgeRecovery(scene, problems) {
  await scene.connect(RECOVERY_MESSAGES);
  const deadline = performance.now() + STOP_MS;
  for (;;) {
    /** @type {Report[]} */
    const reports = await scene.askBoth('report');
    const bad = reports.flatMap(({ wrong, statuses }) => [...wrong, ...statuses]);
    if (bad.length > 0) problems.push(`the connection afterwards: ${bad.join(', ')}`);
    const count = Math.min(...reports.map(({ messages }) => messages));
    if (bad.length > 0 || count >= RECOVERY_MESSAGES) break;
    if (performance.now() > deadline) {
      problems.push(`hang: the connection afterwards carried ${count} of ${RECOVERY_MESSAGES} messages`);
      break;
    }
    await scene.sleep(10);
  }
  await scene.askBoth('stop', undefined, STOP_MS);
}

/** @param {Scene} scene @param {Victim} victim @param {string[]} problems */
export async function judgeLeftovers({ world, package: name }, victim, problems) {
  // librdmacm keeps devices open, and an open device its two connections to a peer with which it shares memory, one of
  // them with a reference to the peer's process.
  const [sockets, pidfds] = world.link === 'shm' && name === 'rdmacm' ? [2, 1] : [0, 0];
  const { found } = await victim.ask('leftovers', { argument: { milliseconds: LEFTOVERS_MS, sockets, pidfds } });
  for (const what of found)
    problems.push(`left over in the process of end ${victim.ends.join(' and ')}: ${String(what)}`);
}
