const CTRL_C = '\x03';
const CTRL_Z = '\x1a';

/** Single keys of a terminal, without Enter. Ctrl-C and Ctrl-Z do what they do elsewhere. */
export class Keys {
  readonly #actions: Readonly<Record<string, () => void>>;
  readonly #open: boolean;

  constructor(actions: Readonly<Record<string, () => void>>) {
    this.#actions = actions;
    this.#open = process.stdin.isTTY;
    if (!this.#open) return;
    this.#begin();
    process.stdin.setEncoding('utf8').on('data', this.#take);
    // The shell has had the terminal meanwhile.
    process.on('SIGCONT', this.#begin);
  }

  /** The terminal is as before, and keeps the process alive no longer. */
  close(): void {
    if (!this.#open) return;
    process.off('SIGCONT', this.#begin);
    process.stdin.off('data', this.#take).pause();
    process.stdin.setRawMode(false);
  }

  readonly #begin = (): void => {
    process.stdin.setRawMode(true);
  };

  readonly #take = (text: string): void => {
    for (const key of text) {
      // As the terminal does it: to all of the pipeline, and npx.
      if (key === CTRL_C) process.kill(0, 'SIGINT');
      else if (key === CTRL_Z) {
        process.stdin.setRawMode(false);
        process.kill(0, 'SIGTSTP');
      } else this.#actions[key]?.();
    }
  };
}
