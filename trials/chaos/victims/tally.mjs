// What one side saw: how much it verified, what was wrong, and which errors came in which order.
import { WcStatus } from '@verbs/core';

const names = new Map(Object.entries(WcStatus).map(([name, value]) => [value, name]));

export class Tally {
  #bytes = 0;
  #operations = 0;
  #wrong = [];
  #statuses = [];

  /** True since the first error: the connection is over. */
  get failed() {
    return this.#statuses.length > 0;
  }

  completion(wc) {
    if (!wc.ok) this.error(names.get(wc.status) ?? `status ${wc.status}`);
  }

  /** An error that the library reported. */
  error(name) {
    if (!this.#statuses.includes(name)) this.#statuses.push(name);
  }

  /** Something that must not happen, whatever the disturbance. */
  wrong(text) {
    if (this.#wrong.length < 8) this.#wrong.push(text);
  }

  verified(bytes) {
    this.#bytes += bytes;
    this.#operations++;
  }

  /** False if the call failed, which then is one of the errors. */
  attempt(call) {
    try {
      call();
      return true;
    } catch (error) {
      this.error(typeof error.code === 'string' ? error.code : error.message);
      return false;
    }
  }

  report() {
    return { bytes: this.#bytes, operations: this.#operations, wrong: this.#wrong, statuses: this.#statuses };
  }
}
