import { rmSync, statSync } from 'node:fs';
import { type CapturedFrame, type CaptureFormat, FrameReader, FrameWriter } from '@verbs/lib/capture-files';
import type * as Reformat from '@verbs/lib/reformat';
import { Failure, codeOf, fileReason } from '@verbs/lib/failure';
import { Progress } from './progress.js';

export interface Task {
  direction: 'encap' | 'decap';
  /** The tunnel, as on the command line. */
  text: string;
  input: string;
  output: string;
}

export interface Result {
  task: Task;
  formats: { input: CaptureFormat; output: CaptureFormat };
  summary: Reformat.Summary;
  seconds: number;
}

/** Reads, reformats and writes. A run that fails leaves no output behind. */
export async function convert(module: typeof Reformat, task: Task): Promise<Result> {
  const work = workOf(module, task);
  using reader = openInput(task.input);
  refuseSame(task);
  const format = formatOf(task.output) ?? reader.format;
  using writer = openOutput(task.output, format);
  try {
    const start = performance.now();
    const summary = await run(module, work, reader, writer);
    writer.finish();
    const seconds = (performance.now() - start) / 1000;
    return { task, formats: { input: reader.format, output: format }, summary, seconds };
  } catch (error) {
    if (statSync(task.output, { throwIfNoEntry: false })?.isFile()) rmSync(task.output);
    if (codeOf(error) === 'ENOSPC') {
      throw new Failure(`cannot write ${task.output}: ${fileReason(error)}`, { cause: error });
    }
    throw error;
  }
}

async function run(module: typeof Reformat, work: Reformat.Work, reader: FrameReader, writer: FrameWriter) {
  const progress = new Progress();
  const controller = new AbortController();
  const stop = (name: NodeJS.Signals) => {
    controller.abort(new Failure(`stopped by ${name}`, { hint: 'nothing was written' }));
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, stop);
  try {
    const write = (frame: CapturedFrame) => {
      writer.write(frame);
    };
    return await module.reformat(work, reader.frames(), write, {
      progress: (summary) => {
        progress.show(summary);
      },
      signal: controller.signal,
    });
  } finally {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(name, stop);
    progress.end();
  }
}

function workOf({ parseEncap, parseDecap, SpecError }: typeof Reformat, { direction, text }: Task): Reformat.Work {
  try {
    return direction === 'encap' ? { encap: parseEncap(text) } : { decap: parseDecap(text) };
  } catch (error) {
    if (!(error instanceof SpecError)) throw error;
    throw new Failure(`--${direction}: ${error.message}`, { hint: 'verbs reformat --help', exitCode: 2, cause: error });
  }
}

function openInput(path: string): FrameReader {
  try {
    return new FrameReader(path);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    throw new Failure(`cannot read ${path}: ${fileReason(error)}`, { cause: error });
  }
}

function openOutput(path: string, format: CaptureFormat): FrameWriter {
  try {
    return new FrameWriter(path, format);
  } catch (error) {
    throw new Failure(`cannot write ${path}: ${fileReason(error)}`, {
      hint: 'name a file in a directory that exists and that you may write to',
      cause: error,
    });
  }
}

/** Opening the output would empty the input. */
function refuseSame({ input, output }: Task): void {
  const [from, to] = [input, output].map((path) => statSync(path, { throwIfNoEntry: false, bigint: true }));
  if (from?.isFile() && from.dev === to?.dev && from.ino === to.ino) {
    throw new Failure(`${input} and ${output} are the same file`, { hint: 'name another file for the output' });
  }
}

function formatOf(path: string): CaptureFormat | undefined {
  if (/\.(pcapng|ntar)$/i.test(path)) return 'pcapng';
  return /\.(pcap|cap)$/i.test(path) ? 'pcap' : undefined;
}
