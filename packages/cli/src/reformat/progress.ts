import type { Summary } from '@verbs/lib/reformat';
import { rewriteLine } from '../output.js';
import { bytesText } from '../text.js';

const EVERY_MS = 200;

/** A line on standard error that is written anew; only on a terminal. */
export class Progress {
  #shown = performance.now();
  #open = false;

  show({ frames, bytes }: Readonly<Summary>): void {
    if (!process.stderr.isTTY || performance.now() - this.#shown < EVERY_MS) return;
    this.#shown = performance.now();
    this.#open = true;
    rewriteLine(`${frames} frames, ${bytesText(bytes)} `);
  }

  end(): void {
    if (this.#open) rewriteLine();
  }
}
