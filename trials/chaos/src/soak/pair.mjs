/** @import { Scene } from '../harness/scene.mjs' */

/** Two processes with a connection, sampled from time to time. */
export class Pair {
  /** What must not happen. @type {string[]} */
  wrong = [];
  /** The errors that ended the connection. @type {string[]} */
  statuses = [];
  /** Of the last sample: the slower end, in microseconds. */
  p99 = 0;
  longest = 0;
  #before = 0;
  #bytes = 0;

  /** @param {string} name @param {Scene} scene */
  constructor(name, scene) {
    this.name = name;
    this.scene = scene;
  }

  /** All that was verified. */
  get megabytes() {
    return (this.#before + this.#bytes) / 2 ** 20;
  }

  async start() {
    await this.scene.start([0, 1]);
    await this.scene.askBoth('open');
    await this.scene.connect();
  }

  /** A new connection of the same processes. */
  async again() {
    this.#before += this.#bytes;
    this.#bytes = 0;
    this.statuses = [];
    await this.scene.connect();
  }

  async stop() {
    await this.scene.askBoth('stop');
  }

  /** Adds a sample of each process to its series. @param {Record<string, Record<string, number[]>>} processes */
  async sample(processes) {
    [this.wrong, this.statuses, this.p99, this.longest, this.#bytes] = [[], [], 0, 0, 0];
    for (const end of [0, 1]) {
      const report = await this.scene.ask(end, 'report');
      const victim = this.scene.victimOf(end);
      const figures = await victim.ask('sample');
      const malloc = await victim.gremlin.do('heap');
      const { p50 = 0, p99 = 0, max = 0 } = report.latency ?? {};
      const series = (processes[`${this.name} ${end}`] ??= {
        ...{ rss: [], heap: [], malloc: [], descriptors: [] },
        ...{ p50: [], p99: [], megabytes: [] },
      });
      const all = { ...figures, malloc, p50, p99, megabytes: report.bytes / 2 ** 20 };
      for (const [what, values] of Object.entries(series)) values.push(Number(all[what]));
      this.#bytes += Number(report.bytes);
      this.p99 = Math.max(this.p99, p99);
      this.longest = Math.max(this.longest, max);
      this.wrong.push(...report.wrong.map((/** @type {string} */ text) => `${this.name} ${end}: ${text}`));
      this.statuses.push(...report.statuses);
    }
  }
}
