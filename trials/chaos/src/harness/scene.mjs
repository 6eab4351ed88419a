/** @import { Package } from '../worlds/devices.mjs' */
/** @import { World } from '../worlds/world.mjs' */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Random } from '../random.mjs';
import { deviceOf } from '../worlds/devices.mjs';
import { programOf } from './programs.mjs';
import { Victim } from './victim.mjs';

/**
 * What every run of a series has.
 * @typedef {object} Stage
 * @property {string} directory private, for sockets and captures
 * @property {string} library the gremlin
 * @property {NodeJS.ProcessEnv} env
 */

/**
 * What a disturbance asks for before there is a process.
 * @typedef {object} Conditions
 * @property {boolean} [workers] the ends are in worker threads
 * @property {(scene: { directory: string }) => string} [options] further options of the devices
 * @property {(scene: { directory: string }) => string[]} [wrap] words in front of the command of every process
 */

/** The processes of a run, their two ends, and the end that something happens to. */
export class Scene {
  /** @type {Victim[]} */
  victims = [];
  /** The memory of each end that its peer uses: whole pages. @type {{ addr: string, length: number }[]} */
  pages = [];

  /**
   * @param {object} options
   * @param {Conditions} options.disturbance
   * @param {Package} options.package
   * @param {World} options.world
   * @param {number} options.seed
   * @param {Stage} options.stage
   */
  constructor({ disturbance, package: name, world, seed, stage }) {
    this.disturbance = disturbance;
    this.package = name;
    this.world = world;
    this.seed = seed;
    this.stage = stage;
    this.random = new Random(seed);
    this.target = this.random.below(2);
    this.modes = [0, 1].map(() => this.random.pick(['await', 'poll']));
    this.directory = mkdtempSync(join(stage.directory, 'run-'));
  }

  /** The process of an end. @param {number} end */
  victimOf(end) {
    const victim = this.victims.find(({ ends }) => ends.includes(end));
    if (victim === undefined) throw new Error(`no process has end ${end}`);
    return victim;
  }

  /** The process that something happens to. */
  get victim() {
    return this.victimOf(this.target);
  }

  /** @param {number} milliseconds @returns {Promise<void>} */
  sleep = (milliseconds) => setTimeout(milliseconds);

  /** A command for an end. @param {number} end @param {string} command @param {unknown} [argument] @param {number} [within] */
  ask(end, command, argument, within) {
    return this.victimOf(end).ask(command, { end, argument, ...(within === undefined ? {} : { within }) });
  }

  /** A command for both, at the same time. @param {string} command @param {(end: number) => unknown} [argument] @param {number} [within] */
  askBoth(command, argument = () => undefined, within) {
    return Promise.all([0, 1].map((end) => this.ask(end, command, argument(end), within)));
  }

  /** Starts the processes of these ends, and takes their baselines. @param {number[]} ends */
  async start(ends) {
    const groups = this.world.processes === 1 ? [[0, 1]] : ends.map((end) => [end]);
    const started = await Promise.all(groups.map((group) => this.#start(group)));
    this.victims = [...this.victims.filter((victim) => !victim.ends.some((end) => ends.includes(end))), ...started];
  }

  /** @param {number[]} ends */
  async #start(ends) {
    const { disturbance, world, stage, seed } = this;
    const more = disturbance.options?.(this) ?? '';
    const devices = ends.map((end) => deviceOf(this.package, world, end, more));
    const configuration = {
      seed: seed % 1_000_003,
      ends: ends.map((end, index) => ({
        package: this.package,
        device: devices[index]?.name,
        address: world.places[end]?.address,
        me: end,
        mode: this.modes[end],
        worker: disturbance.workers === true,
      })),
    };
    const place = world.places[ends[0] ?? 0];
    if (place === undefined) throw new Error('no place');
    const wrap = [...place.wrap, ...(disturbance.wrap?.(this) ?? [])];
    const env = {
      ...stage.env,
      VERBS_SOFT: devices.map(({ text }) => text).join(';'),
      // On one machine the two ends share a directory of services, on two they do not.
      XDG_RUNTIME_DIR: world.link === 'veth' ? this.#own(ends[0] ?? 0) : this.directory,
    };
    const { directory } = this;
    const program = programOf(this.package);
    const victim = await Victim.start({ wrap, program, configuration, ends, env, directory, library: stage.library });
    await victim.ask('baseline');
    return victim;
  }

  /** @param {number} end */
  #own(end) {
    const path = join(this.directory, `host-${end}`);
    mkdirSync(path, { mode: 0o700, recursive: true });
    return path;
  }

  /** A new connection of both ends; it transfers until it is stopped. @param {number} [limit] messages of each side */
  async connect(limit) {
    const endpoints = await this.askBoth('make');
    const memories = await this.askBoth('connect', (end) => endpoints[1 - end]);
    this.pages = memories.map(({ pages }) => pages);
    await this.askBoth('start', (end) => ({ peer: memories[1 - end].remote ?? { addr: '0', rkey: 0 }, limit }));
  }

  async destroy() {
    await Promise.all(this.victims.map((victim) => victim.destroy()));
    this.world.close();
  }
}
