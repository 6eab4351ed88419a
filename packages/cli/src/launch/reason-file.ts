import { closeSync, openSync, readSync } from 'node:fs';
import { readReason, type ReasonReport } from '@verbs/soft';

/** Between two looks into the file. */
const PAUSE_MS = 50;
const CHUNK = 1 << 16;

/**
 * The file to which the programs of a run append what the software NIC dropped, failed and refused. It is in the folder of
 * the run, and for this user only; what is in it stays, however its writer ended.
 */
export class ReasonFile {
  readonly path: string;
  readonly #fd: number;
  readonly #timer: NodeJS.Timeout;
  readonly #report: (reason: ReasonReport) => void;
  readonly #chunk = Buffer.alloc(CHUNK);
  /** What has no end yet. */
  #rest: Buffer = Buffer.alloc(0);

  constructor(path: string, report: (reason: ReasonReport) => void) {
    this.path = path;
    this.#report = report;
    closeSync(openSync(path, 'wx', 0o600));
    this.#fd = openSync(path, 'r');
    this.#timer = setInterval(() => {
      this.#read();
    }, PAUSE_MS);
  }

  /** The programs have ended. */
  finish(): void {
    clearInterval(this.#timer);
    this.#read();
    closeSync(this.#fd);
  }

  #read(): void {
    for (let size; (size = readSync(this.#fd, this.#chunk, 0, CHUNK, null)) > 0;) {
      this.#rest = Buffer.concat([this.#rest, this.#chunk.subarray(0, size)]);
      for (let end; (end = this.#rest.indexOf(10)) >= 0; this.#rest = this.#rest.subarray(end + 1)) {
        this.#line(this.#rest.toString('utf8', 0, end));
      }
    }
  }

  #line(line: string): void {
    let reason: ReasonReport;
    try {
      reason = readReason(line);
    } catch {
      return; // a full disk cuts a line off
    }
    this.#report(reason);
  }
}
