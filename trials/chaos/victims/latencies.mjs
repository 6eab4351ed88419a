import { createHistogram } from 'node:perf_hooks';

/** Times of requests, in microseconds, since they were last asked for. */
export class Latencies {
  #histogram = createHistogram();

  add(milliseconds) {
    this.#histogram.record(Math.max(1, Math.round(milliseconds * 1000)));
  }

  /** p50, p99 and the longest; undefined if there was no request. */
  take() {
    const { count, max } = this.#histogram;
    const taken = { count, p50: this.#histogram.percentile(50), p99: this.#histogram.percentile(99), max };
    this.#histogram.reset();
    return count === 0 ? undefined : taken;
  }
}
