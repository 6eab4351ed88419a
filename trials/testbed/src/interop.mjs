import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runConnectionCases } from './connections/cases.mjs';
import { runConnectionPrograms } from './connections/programs.mjs';
import { checkCapture, startCapture } from './capture.mjs';
import { lossyCases, runFaults } from './fault-runs.mjs';
import { startGuest } from './guest.mjs';
import { buildCases } from './interop-program.mjs';
import { guestNetwork, tap } from './namespace.mjs';
import { runCases } from './pairing.mjs';
import { runPrograms } from './programs.mjs';

/** @import { Result } from './pairing.mjs' */
/** @import { WireReport } from './capture.mjs' */

/** What a run may do; faults break frames on purpose, so they have no check of the wire. */
export const parts = /** @type {const} */ (['cases', 'programs', 'connections', 'default', 'faults']);

/** A few cases of each kind, for `npm test`, and with nothing configured. */
const quickCases = ['rc stream of everything', 'rc send mtu 1024', 'uc write imm mtu 4096', 'ud send imm'];

/**
 * @typedef {object} InteropOptions
 * @property {readonly (typeof parts)[number][]} parts
 * @property {boolean} quick a few cases instead of the parts
 * @property {string} only the checks whose name contains it
 * @property {(result: Result) => void} each hears every result as it comes
 */

/**
 * Our NIC and the kernel's rxe on one wire. This process is inside the namespace.
 * @param {InteropOptions} options
 * @returns {Promise<{ kernel: string, wire: WireReport }>}
 */
export async function runInterop(options) {
  const program = buildCases();
  const folder = mkdtempSync(join(tmpdir(), 'verbs-interop-'));
  const guest = await startGuest({ network: guestNetwork, tap });
  try {
    const kernel = (await guest.must(['uname', '-r'])).trim();
    const wire = await undisturbed(guest, program, options, join(folder, 'wire.pcap'));
    if (!options.quick && options.parts.includes('faults')) {
      const expected = countCases(program, lossyCases);
      await runFaults(guest, program, { only: options.only, expected, each: options.each });
    }
    return { kernel, wire };
  } finally {
    await guest.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {import('./guest.mjs').Guest} guest
 * @param {string} program
 * @param {InteropOptions} options
 * @param {string} file of the capture
 * @returns {Promise<WireReport>}
 */
async function undisturbed(guest, program, { parts: wanted, quick, only, each }, file) {
  if (!quick && wanted.every((part) => part === 'faults')) return { frames: 0, findings: [] };
  const capture = await startCapture(file);
  for (const family of /** @type {const} */ ([4, 6])) {
    const selections = quick ? quickCases : wanted.includes('cases') ? [only] : [];
    for (const selection of selections) {
      const expected = countCases(program, selection);
      if (expected === 0) continue;
      const run = { part: 'cases', family, only: selection, expected };
      for (const result of await runCases(guest, program, run)) each(result);
    }
    if (quick) continue;
    if (wanted.includes('programs')) await runPrograms(guest, { family, only, each });
    if (wanted.includes('connections')) {
      await runConnectionPrograms(guest, { part: 'connections', family, only, each });
      await runConnectionCases(guest, { family, only, each });
    }
    if (wanted.includes('default')) await runUnconfigured(guest, program, { family, only, each });
  }
  await capture.stop();
  return checkCapture(file);
}

/**
 * With nothing configured our NIC has the addresses of the host, and rxe is a peer that it knows nothing of.
 * @param {import('./guest.mjs').Guest} guest
 * @param {string} program
 * @param {{ family: 4 | 6, only: string, each: (result: Result) => void }} options
 */
async function runUnconfigured(guest, program, { family, only, each }) {
  const run = { part: 'default', family, configuration: '' };
  for (const selection of quickCases.filter((name) => name.includes(only))) {
    const expected = countCases(program, selection);
    for (const result of await runCases(guest, program, { ...run, only: selection, expected })) each(result);
  }
  await runConnectionPrograms(guest, { ...run, only, each });
}

/**
 * How many results the cases give whose name contains the text.
 * @param {string} program
 * @param {string} only
 */
function countCases(program, only) {
  const { stdout } = spawnSync(program, ['--list', '--only', only], { encoding: 'utf8' });
  return 2 * stdout.split('\n').filter((line) => line !== '').length;
}
