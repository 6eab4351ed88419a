/** Round trip times, in microseconds. */
export interface Summary {
  sent: number;
  received: number;
  min: number;
  avg: number;
  max: number;
  /** Of the sample: divided by n - 1. */
  stddev: number;
}

/** Adds up without keeping the times: a ping may run for days. */
export class Statistics {
  #sent = 0;
  #count = 0;
  #min = Infinity;
  #max = 0;
  #mean = 0;
  #squares = 0;

  addSent(): void {
    this.#sent += 1;
  }

  /** Welford's method: exact also if the times differ little from each other. */
  addReceived(microseconds: number): void {
    this.#count += 1;
    this.#min = Math.min(this.#min, microseconds);
    this.#max = Math.max(this.#max, microseconds);
    const delta = microseconds - this.#mean;
    this.#mean += delta / this.#count;
    this.#squares += delta * (microseconds - this.#mean);
  }

  summary(): Summary {
    const stddev = this.#count < 2 ? 0 : Math.sqrt(this.#squares / (this.#count - 1));
    return {
      sent: this.#sent,
      received: this.#count,
      min: this.#count === 0 ? 0 : this.#min,
      avg: this.#mean,
      max: this.#max,
      stddev,
    };
  }
}
