import { spawn } from 'node:child_process';
import { closeSync, createReadStream, openSync, writeSync } from 'node:fs';
import { finish, hashOf, sizeOf } from './folder.mjs';
import { control, output, parse, piece, PIECE_HEAD } from './messages.mjs';

/** @import { ChildProcess } from 'node:child_process' */
/** @import { Readable } from 'node:stream' */
/** @import { Folder } from './folder.mjs' */

/** The host learns of stored bytes that often. */
const REPORT_BYTES = 256 * 1024;

/** What the DPU's agent does for one host. */
export class Session {
  #send;
  #room;
  #folder;
  #allowed;
  /** @type {{ name: string, part: string, file: number, stored: number, reported: number } | undefined} */
  #incoming;
  /** @type {ChildProcess | undefined} */
  #command;
  #closed = false;
  /** The requests so far, one after the other. @type {Promise<void>} */
  #work = Promise.resolve();

  /**
   * @param {object} agent
   * @param {(message: Uint8Array) => Promise<void>} agent.send
   * @param {number} agent.room the bytes of a message
   * @param {Folder} agent.folder
   * @param {readonly string[]} agent.allowed programs that hosts may run
   */
  constructor({ send, room, folder, allowed }) {
    this.#send = send;
    this.#room = room;
    this.#folder = folder;
    this.#allowed = allowed;
  }

  /** A message of the host. What is wrong with it is told to the host. @param {Uint8Array} message */
  receive(message) {
    const work = this.#work.then(() => this.#handle(message));
    this.#work = work.catch(async (/** @type {unknown} */ error) => {
      this.#closeIncoming();
      const text = error instanceof Error ? error.message : String(error);
      await this.#send(control({ error: text })).catch(() => undefined);
    });
    return this.#work;
  }

  /** The host is gone: what it had begun to send stays for the next connection, what it had started ends. */
  close() {
    this.#closed = true;
    this.#command?.kill();
    void this.#work.finally(() => {
      this.#closeIncoming();
    });
  }

  /** @param {Uint8Array} message */
  async #handle(message) {
    if (this.#closed) return;
    const parsed = parse(message);
    if (parsed.type === 'D') {
      await this.#store(parsed.offset, parsed.bytes);
      return;
    }
    if (parsed.type !== 'J') throw new Error('a host sends no output');
    const { value } = parsed;
    switch (value['op']) {
      case 'put': {
        this.#closeIncoming();
        const part = this.#folder.partOf(value['id']);
        const name = this.#folder.pathOf(value['name']);
        const stored = sizeOf(part);
        this.#incoming = { name, part, file: openSync(part, 'a'), stored, reported: stored };
        await this.#send(control({ have: stored }));
        return;
      }
      case 'end': {
        const incoming = this.#incoming;
        if (incoming === undefined) throw new Error('no file was begun');
        this.#closeIncoming();
        const sent = { bytes: value['bytes'], sha256: value['sha256'] };
        await this.#send(control({ done: await finish(incoming.part, incoming.name, sent) }));
        return;
      }
      case 'get': {
        await this.#give(this.#folder.pathOf(value['name']), Number(value['offset'] ?? 0));
        return;
      }
      case 'list': {
        await this.#list();
        return;
      }
      case 'run': {
        await this.#run(/** @type {unknown} */ (value['command']));
        return;
      }
      default:
        throw new Error(`this agent knows no ${JSON.stringify(value['op'])}: update it`);
    }
  }

  /** @param {number} offset @param {Uint8Array} bytes */
  async #store(offset, bytes) {
    const incoming = this.#incoming;
    if (incoming === undefined) return; // of a file that has failed
    if (offset !== incoming.stored) throw new Error(`a piece at ${offset} follows ${incoming.stored} bytes`);
    for (let at = 0; at < bytes.length;) at += writeSync(incoming.file, bytes, at);
    incoming.stored += bytes.length;
    if (incoming.stored - incoming.reported < REPORT_BYTES) return;
    incoming.reported = incoming.stored;
    await this.#send(control({ stored: incoming.stored }));
  }

  #closeIncoming() {
    if (this.#incoming !== undefined) closeSync(this.#incoming.file);
    this.#incoming = undefined;
  }

  /** @param {string} path @param {number} start */
  async #give(path, start) {
    const bytes = sizeOf(path);
    await this.#send(control({ bytes, sha256: await hashOf(path) }));
    let offset = start;
    const stream = createReadStream(path, { start, highWaterMark: this.#room - PIECE_HEAD });
    for await (const part of /** @type {AsyncIterable<Buffer>} */ (stream)) {
      await this.#send(piece(offset, part));
      offset += part.length;
    }
    await this.#send(control({ sent: offset }));
  }

  /** The names may be more than a message holds. */
  async #list() {
    for (const file of this.#folder.list()) await this.#send(control({ file }));
    await this.#send(control({ done: true }));
  }

  /** @param {unknown} command */
  async #run(command) {
    const words = Array.isArray(command) ? command.map(String) : [];
    const [program = '', ...args] = words;
    if (!this.#allowed.includes(program)) {
      throw new Error(`${JSON.stringify(program)} is not allowed here: start the agent with --allow ${program}`);
    }
    const child = spawn(program, args, { cwd: this.#folder.path, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#command = child;
    /** @type {Promise<{ code: number | null, signal: string | null }>} */
    const ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => {
        resolve({ code, signal });
      });
    });
    const passOn = async (/** @type {'O' | 'E'} */ type, /** @type {Readable} */ stream) => {
      for await (const bytes of /** @type {AsyncIterable<Buffer>} */ (stream)) {
        for (let at = 0; at < bytes.length; at += this.#room - 1) {
          await this.#send(output(type, bytes.subarray(at, at + this.#room - 1)));
        }
      }
    };
    try {
      const [exit] = await Promise.all([ended, passOn('O', child.stdout), passOn('E', child.stderr)]);
      await this.#send(control({ exit }));
    } finally {
      this.#command = undefined;
      child.kill();
    }
  }
}
