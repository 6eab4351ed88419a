/** @import { Disturbance, Outcome } from '../disturbances/disturbance.mjs' */
/** @import { Package } from '../worlds/devices.mjs' */
/** @import { LinkName } from '../worlds/world.mjs' */
/** @import { Stage } from './scene.mjs' */
/** @import { Report } from './verdicts.mjs' */
import { loopback, oneProcess, sharedMemory } from '../worlds/loopback.mjs';
import { veth } from '../worlds/veth.mjs';
import { ARRIVAL_MS, STOP_MS } from './bounds.mjs';
import { Scene } from './scene.mjs';
import { endOf, judge, judgeLeftovers, judgeRecovery } from './verdicts.mjs';

const worlds = { process: oneProcess, loopback, shm: sharedMemory, veth };

/**
 * @typedef {object} Cell
 * @property {Disturbance} disturbance
 * @property {LinkName} link
 * @property {Package} package
 */

/**
 * @typedef {object} Result
 * @property {Cell} cell
 * @property {number} seed
 * @property {string} outcome what both ends saw
 * @property {string[]} problems empty if all is well
 * @property {number} bytes verified, in both directions
 * @property {string} [skipped] why it did not run
 */

/** More than the C heap varies by: Node.js takes 3 MB to load the packages into a thread that had none of them. */
const HEAP_ROOM = 8 << 20;

/**
 * One run: a transfer, one disturbance at a random moment, and everything that must hold afterwards.
 * @param {Cell} cell @param {number} seed @param {Stage} stage
 * @returns {Promise<Result>}
 */
export async function run(cell, seed, stage) {
  const world = await worlds[cell.link]();
  const scene = new Scene({ ...cell, world, seed, stage });
  /** @type {string[]} */
  const problems = [];
  let [outcome, bytes] = ['', 0];
  try {
    await scene.start([0, 1]);
    const heaps = new Map();
    for (const victim of scene.victims) heaps.set(victim, await victim.gremlin.do('heap'));
    await scene.askBoth('open');
    await cell.disturbance.prepare?.(scene);
    await scene.connect();
    await scene.sleep(scene.random.between(20, 400));

    const happened = await cell.disturbance.act(scene);
    await scene.sleep(scene.random.between(100, 500));
    const dead = happened.dead ?? [];
    const gone = [...dead, ...(happened.fresh ?? [])];
    const ends = [0, 1].filter((end) => !gone.includes(end));
    // Both at once: a stopped end goes on to receive, and to acknowledge.
    await Promise.all(ends.map((end) => scene.ask(end, 'stop', undefined, STOP_MS)));
    const reports = await reportsOf(scene, ends);
    const seen = judge({ name: cell.package, happened, ends, reports, problems });
    outcome = [0, 1].map((end) => seen[end] ?? endOf(end, happened)).join(' / ');
    if (happened.note !== undefined) outcome += ` (${happened.note})`;
    bytes = reports.reduce((sum, report) => sum + report.bytes, 0);

    await recover(scene, happened);
    await judgeRecovery(scene, problems);
    await scene.askBoth('close');
    for (const victim of scene.victims) {
      await judgeLeftovers(scene, victim, problems);
      const before = heaps.get(victim);
      const more = (await victim.gremlin.do('heap')) - before;
      if (before !== undefined && more > HEAP_ROOM)
        problems.push(`${(more / 2 ** 20).toFixed(1)} MB of heap left over`);
      await victim.leave();
    }
  } catch (error) {
    problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    await scene.destroy();
  }
  return { cell, seed, outcome: outcome === '' ? 'failed' : outcome, problems, bytes };
}

/**
 * The reports of the ends. What was acknowledged is in the peer's completion queue, and its program may need a while.
 * @param {Scene} scene @param {number[]} ends
 * @returns {Promise<Report[]>}
 */
async function reportsOf(scene, ends) {
  const deadline = performance.now() + ARRIVAL_MS;
  for (;;) {
    /** @type {Report[]} */
    const reports = await Promise.all(ends.map((end) => scene.ask(end, 'report')));
    const [one, two] = reports;
    const settled = reports.some(({ statuses }) => statuses.length > 0) || one === undefined || two === undefined;
    if (settled || (one.sent === two.messages && two.sent === one.messages)) return reports;
    if (performance.now() > deadline) return reports;
    await scene.sleep(10);
  }
}

/** @param {Scene} scene @param {Outcome} happened */
async function recover(scene, { dead = [], fresh = [] }) {
  const lost = scene.victims.filter(({ ends }) => ends.some((end) => dead.includes(end)));
  if (lost.length > 0) {
    await Promise.all(lost.map((victim) => victim.destroy()));
    await scene.start(lost.flatMap(({ ends }) => ends));
  }
  for (const end of new Set([...lost.flatMap(({ ends }) => ends), ...fresh])) await scene.ask(end, 'open');
}
