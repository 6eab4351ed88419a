// Chromium without a window, by its DevTools protocol over two pipes: messages of JSON, each with a NUL behind it.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The names of the program, of Debian's packages chromium-headless-shell and chromium first. */
const PROGRAMS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/** Which program there is; undefined for none. */
export function findBrowser() {
  return PROGRAMS.find((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0);
}

/** @typedef {Record<string, unknown>} Result what the browser answers; each use knows its form */

export class Browser {
  #next = 1;
  #session = '';
  #rest = '';
  /** @type {Map<number, { resolve: (result: Result) => void, reject: (error: Error) => void }>} */
  #calls = new Map();
  /** @type {Map<string, () => void>} */
  #events = new Map();

  /** @param {string} program */
  constructor(program) {
    this.profile = mkdtempSync(join(tmpdir(), 'verbs-browser-'));
    const args = ['--headless', '--remote-debugging-pipe', `--user-data-dir=${this.profile}`, '--disable-gpu'];
    // The pages are ours, and as root there is no sandbox.
    const root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    this.child = spawn(program, [...args, ...root, '--hide-scrollbars', '--disable-dev-shm-usage', 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    });
    this.ended = new Promise((resolve) => this.child.once('close', resolve));
    void this.ended.then(() => {
      for (const { reject } of this.#calls.values()) reject(new Error(`${program} ended`));
      this.#calls.clear();
    });
    const [, , , write, read] = this.child.stdio;
    this.write = /** @type {import('node:stream').Writable} */ (write);
    this.write.on('error', () => undefined);
    /** @type {import('node:stream').Readable} */ (read)
      .setEncoding('utf8')
      .on('data', (/** @type {string} */ text) => {
        this.#take(text);
      });
  }

  /** Opens the page that all later calls are about. */
  async open() {
    const { targetId } = await this.call('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.call('Target.attachToTarget', { targetId, flatten: true });
    this.#session = String(sessionId);
    await this.call('Page.enable');
  }

  /** @param {number} width @param {number} height @param {'light' | 'dark'} scheme */
  async view(width, height, scheme) {
    const mobile = width < 600;
    await this.call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile });
    const features = [{ name: 'prefers-color-scheme', value: scheme }];
    await this.call('Emulation.setEmulatedMedia', { features });
  }

  /** @param {string} url */
  async go(url) {
    const loaded = new Promise((resolve) => {
      this.#events.set('Page.loadEventFired', () => {
        resolve(undefined);
      });
    });
    const { errorText } = await this.call('Page.navigate', { url });
    if (typeof errorText === 'string') throw new Error(`${url}: ${errorText}`);
    await loaded;
  }

  /**
   * @param {string} expression of JavaScript, in the page; its value goes through JSON
   * @returns {Promise<unknown>}
   */
  async evaluate(expression) {
    const answer = await this.call('Runtime.evaluate', { expression, returnByValue: true });
    const { result, exceptionDetails } =
      /** @type {{ result: { value: unknown }, exceptionDetails?: { text: string } }} */ (answer);
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
    return result.value;
  }

  /** A picture of the page, or of its top where it is very long. @returns {Promise<Buffer>} */
  async picture(fromTop = 3000) {
    const metrics = await this.call('Page.getLayoutMetrics');
    const { width, height } = /** @type {{ width: number, height: number }} */ (metrics['cssContentSize']);
    const clip = { x: 0, y: 0, width, height: Math.min(height, fromTop), scale: 1 };
    const { data } = await this.call('Page.captureScreenshot', { clip, captureBeyondViewport: true });
    return Buffer.from(String(data), 'base64');
  }

  async close() {
    this.call('Browser.close').catch(() => undefined);
    const late = setTimeout(() => this.child.kill('SIGKILL'), 5000);
    await this.ended;
    clearTimeout(late);
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }

  /**
   * @param {string} method @param {object} [params]
   * @returns {Promise<Result>}
   */
  call(method, params = {}) {
    const id = this.#next++;
    const session = this.#session === '' || method.startsWith('Browser.') ? {} : { sessionId: this.#session };
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
      this.write.write(`${JSON.stringify({ id, method, params, ...session })}\0`);
    });
  }

  /** @param {string} text */
  #take(text) {
    const messages = (this.#rest + text).split('\0');
    this.#rest = messages.pop() ?? '';
    for (const message of messages) {
      const { id, result, error, method } =
        /** @type {{ id?: number, result?: Result, error?: { message: string }, method?: string }} */ (
          JSON.parse(message)
        );
      if (id === undefined) {
        this.#events.get(method ?? '')?.();
        continue;
      }
      const call = this.#calls.get(id);
      this.#calls.delete(id);
      if (error !== undefined) call?.reject(new Error(error.message));
      else call?.resolve(result ?? {});
    }
  }
}
