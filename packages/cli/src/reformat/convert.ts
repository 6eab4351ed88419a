import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type CapturedFrame, type CaptureFormat, FrameReader, FrameWriter } from '@verbs/lib/capture-files';
import type * as Reformat from '@verbs/lib/reformat';
import { Failure, codeOf, fileReason } from '@verbs/lib/failure';
import { folderBeside, putInPlace, targetOf } from '../capture-target.js';
import { refuseSame } from '../files.js';
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

/** Reads, reformats and writes. A run that fails leaves the output as it was. */
export async function convert(module: typeof Reformat, task: Task): Promise<Result> {
  const work = workOf(module, task);
  using reader = openInput(task.input);
  refuseSame(task.input, task.output);
  const format = formatOf(task.output) ?? reader.format;
  const target = targetOf(task.output);
  const folder = target.isFile ? folderBeside(target) : undefined;
  const path = folder === undefined ? target.path : join(folder, 'frames');
  try {
    using writer = openOutput(path, format);
    const start = performance.now();
    const summary = await run(module, work, reader, writer);
    writer.finish();
    if (folder !== undefined) putInPlace(path, target);
    const seconds = (performance.now() - start) / 1000;
    return { task, formats: { input: reader.format, output: format }, summary, seconds };
  } catch (error) {
    if (codeOf(error) === 'ENOSPC') {
      throw new Failure(`cannot write ${task.output}: ${fileReason(error)}`, { cause: error });
    }
    throw error;
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
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

function formatOf(path: string): CaptureFormat | undefined {
  if (/\.(pcapng|ntar)$/i.test(path)) return 'pcapng';
  return /\.(pcap|cap)$/i.test(path) ? 'pcap' : undefined;
}
