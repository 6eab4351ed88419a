import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Problem } from '../../../tools/setup/src/problem.mjs';
import { tap } from './namespace.mjs';

const checker = join(import.meta.dirname, '../python/check_wire.py');

/**
 * What a capture had to show.
 * @typedef {object} WireReport
 * @property {number} frames
 * @property {string[]} findings empty: every frame is well formed and its ICRC is right
 */

/**
 * Captures every RoCE frame on the wire until `stop`.
 * @param {string} file
 */
export async function startCapture(file) {
  const args = ['-q', '-P', '-B', '256', '-i', tap, '-f', 'udp port 4791', '-w', file];
  const child = spawn('dumpcap', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '';
  child.stderr.on('data', (data) => (text += String(data)));
  const deadline = Date.now() + 20_000;
  while (!text.includes('File:')) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Problem(`dumpcap does not capture: ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    async stop() {
      child.kill('SIGINT');
      if (child.exitCode === null) await once(child, 'close');
    },
  };
}

/**
 * Checks a capture by a computation of the ICRC that is not ours, and by tshark.
 * @param {string} file
 * @returns {WireReport}
 */
export function checkCapture(file) {
  const { status, stdout, stderr } = spawnSync('/usr/bin/python3', [checker, file], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (status !== 0) throw new Problem(`check_wire.py: ${stderr}`);
  /** @type {WireReport} */
  const report = JSON.parse(stdout);
  return report;
}
