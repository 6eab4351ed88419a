import { rmSync } from 'node:fs';
import { captureOption, checkCapture, prepareCapture } from '../capture.js';
import type { Chapter } from '../chapter.js';
import { type RunResult, run } from '../run.js';
import { table } from '../table.js';

const LOSS = 0.02;

/** RDMA WRITE between two processes: without loss, then encrypted, with losses, and with a capture. */
export const fileTransfer: Chapter = async ({ file, capture, seed, signal, say }) => {
  prepareCapture(capture);
  try {
    say(`Moving ${file} between two processes over the software NIC`);
    const plain = await run({ file, label: 'no loss', sender: '', receiver: '', encrypt: false, signal });
    const lossy = await run({
      file,
      label: `${LOSS * 100} % loss`,
      sender: `drop=${LOSS},seed=${seed},${captureOption(capture)}`,
      receiver: `drop=${LOSS},seed=${seed + 1}`,
      encrypt: true,
      signal,
    });
    checkCapture(capture);
    const runs = [plain, lossy];
    return { document: { capture, runs }, text: report(runs, capture) };
  } catch (error) {
    rmSync(capture, { force: true });
    throw error;
  }
};

function report(results: RunResult[], capture: string): string {
  return `
${table(results)}

Seconds run from the first read of the file to the receiver's word that the last chunk is in its copy; the digests are
computed after that. Packets, losses and retransmissions are the counters of both NICs. SHA-256 of the copies:
${results.map(({ sha256 }) => `  ${sha256}`).join('\n')}
The sender's packets of the second run are in ${capture}: open it with Wireshark.
In that run the file's bytes are encrypted (AES-128-CTR), so the capture does not show the file.
`;
}
