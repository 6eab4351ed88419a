/** What a command has written so far. */
export class Output {
  stdout = '';
  stderr = '';
  /** @type {{ is: () => boolean, resolve: () => void }[]} */
  #waiting = [];
  #ended = false;

  /**
   * @param {'stdout' | 'stderr'} stream
   * @param {string} text
   */
  add(stream, text) {
    this[stream] += text;
    this.#look();
  }

  /** The command has ended: nobody waits for it any longer. */
  end() {
    this.#ended = true;
    this.#look();
  }

  /** Resolves at the first output, or at the end. @returns {Promise<void>} */
  heard() {
    return this.#until(() => this.stdout !== '' || this.stderr !== '');
  }

  /**
   * Resolves when the standard output has the text, or at the end.
   * @param {string} text
   * @returns {Promise<void>}
   */
  says(text) {
    return this.#until(() => this.stdout.includes(text));
  }

  /**
   * @param {() => boolean} is
   * @returns {Promise<void>}
   */
  #until(is) {
    return new Promise((resolve) => {
      this.#waiting.push({ is, resolve });
      this.#look();
    });
  }

  #look() {
    this.#waiting = this.#waiting.filter(({ is, resolve }) => {
      if (!this.#ended && !is()) return true;
      resolve();
      return false;
    });
  }
}
