import { appendFileSync, createReadStream, createWriteStream, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Failure, codeOf, fileReason } from '@verbs/lib/failure';
import { folderBeside, putInPlace, type Target, targetOf } from '../capture-target.js';
import { temporaryFolder } from '../files.js';
import { escapeValue, plural } from '../text.js';
import { type CaptureSummary, summarizePart } from './pcapng.js';
import { ReasonsPart } from './reasons.js';

/**
 * The capture of a program and of all processes that it starts. Each process writes files of its own (a file with two
 * writers would be damaged); afterwards they are concatenated, as pcapng allows.
 */
export class Collection {
  /** What the software NIC dropped, failed and refused meanwhile. */
  readonly reasons = new ReasonsPart();
  readonly #target: Target;
  readonly #directory: string;
  /** The parts lie on the target's file system: the capture is put in place as a whole. Else it is copied there. */
  readonly #beside: boolean;

  constructor(target: string) {
    this.#target = targetOf(target);
    // Beside the target, so that the parts fill the disk that was meant, and moving them there is no copy.
    // The NIC replaces %p and %d in a path; there is no way to escape them.
    this.#beside = this.#target.isFile && !/%[pd]/.test(this.#target.path);
    this.#directory = this.#beside ? folderBeside(this.#target) : temporaryFolder('verbs-capture-parts-');
  }

  /** The capture option of a device in VERBS_SOFT; %p and %d are filled in by the NIC. */
  get pattern(): string {
    return join(escapeValue(this.#directory), '%p-%d.pcapng');
  }

  /** Merges the parts into the target and summarizes it. Removes the parts, also after an error. */
  async finish(): Promise<CaptureSummary> {
    try {
      const parts = readdirSync(this.#directory)
        .map((name) => join(this.#directory, name))
        .filter((path) => statSync(path).size > 0)
        .sort((a, b) => statSync(a).birthtimeMs - statSync(b).birthtimeMs);
      const [first, ...others] = parts;
      if (first === undefined) {
        throw new Failure(
          `nothing was captured in ${this.#target.path}: the program opened no device of the software NIC`,
          {
            hint: 'a statically linked program, or one without libibverbs, cannot be captured; one that sets VERBS_SOFT itself is not',
          },
        );
      }
      // A process that is killed while it writes leaves half a block.
      const summary = add(parts.map(summarizePart));
      const reasons = join(this.#directory, 'reasons');
      if (this.reasons.write(reasons)) others.push(reasons);
      await this.#merge(first, others);
      return summary;
    } finally {
      this.discard();
    }
  }

  discard(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #merge(first: string, others: string[]): Promise<void> {
    const { path } = this.#target;
    try {
      if (!this.#beside) {
        await pipeline(contents([first, ...others]), createWriteStream(path));
        return;
      }
      for await (const chunk of contents(others)) appendFileSync(first, chunk);
      putInPlace(first, this.#target);
    } catch (error) {
      throw new Failure(`the capture ${path} could not be written: ${fileReason(error)}`, {
        hint: spaceHint(codeOf(error)),
        cause: error,
      });
    }
  }
}

/** What the parts hold, one behind the other. A part that is read goes: the disk need not hold all of it twice. */
async function* contents(parts: readonly string[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    yield* createReadStream(part, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>;
    rmSync(part);
  }
}

/** The error for an incomplete capture, or undefined. */
export function incompleteFailure(target: string, summary: CaptureSummary): Failure | undefined {
  const [reason] = summary.incomplete;
  if (reason === undefined) return undefined;
  return new Failure(
    `the capture ${target} is incomplete: ${reason}. It holds ${plural(summary.packets, 'packet')} up to there`,
    { hint: spaceHint(/\((\w+)\)/.exec(reason)?.[1]) },
  );
}

function spaceHint(code: string | undefined): string {
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG'
    ? 'free some space, name a file on another disk, or limit the capture (capture_limit=BYTES in VERBS_SOFT)'
    : 'name another file';
}

function add(summaries: CaptureSummary[]): CaptureSummary {
  const total: CaptureSummary = { sections: 0, packets: 0, bytes: 0, sent: 0, received: 0, incomplete: [] };
  for (const each of summaries) {
    total.sections += each.sections;
    total.packets += each.packets;
    total.bytes += each.bytes;
    total.sent += each.sent;
    total.received += each.received;
    total.incomplete.push(...each.incomplete);
  }
  return total;
}
