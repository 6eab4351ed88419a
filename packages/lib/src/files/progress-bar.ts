import { lineOf } from '../text/index.js';

const WIDTH = 30;
const STEP_MS = 100;

/** A bar on standard error: redrawn in place on a terminal, elsewhere one line for each quarter. */
export class ProgressBar {
  readonly #label: string;
  readonly #stream: NodeJS.WriteStream;
  #drawn = 0;
  #quarter = 0;

  constructor(label: string, stream: NodeJS.WriteStream = process.stderr) {
    this.#label = lineOf(label);
    this.#stream = stream;
  }

  update(bytes: number, total: number): void {
    const share = total === 0 ? 1 : bytes / total;
    if (this.#stream.isTTY) this.#redraw(share);
    else this.#print(share);
  }

  #redraw(share: number): void {
    const now = performance.now();
    if (share < 1 && now - this.#drawn < STEP_MS) return;
    this.#drawn = now;
    this.#stream.write(`\r${this.#text(share)}${share < 1 ? '' : '\n'}`);
  }

  #print(share: number): void {
    const quarter = Math.floor(share * 4);
    if (quarter <= this.#quarter) return;
    this.#quarter = quarter;
    this.#stream.write(`${this.#text(quarter / 4)}\n`);
  }

  #text(share: number): string {
    const filled = Math.round(share * WIDTH);
    const bar = '#'.repeat(filled) + '.'.repeat(WIDTH - filled);
    return `${this.#label} [${bar}] ${String(Math.floor(share * 100)).padStart(3)} %`;
  }
}
