import type { CapturedFrame } from '../capture-files/index.js';
import { Batch, type Outcome } from './batch.js';
import { Devices, LONGEST_FRAME, type Work } from './devices.js';
import { type Losses, total } from './losses.js';
import type { Fronts } from './pairing.js';

const BATCH = 64;
const SHORTEST_FRAME = 14;
/** More than any outer headers have. */
const OUTER = 1024;
/** A MAC header with two VLAN tags. */
const MAC = 22;

/** The outcome for the frames of a capture. */
export interface Summary {
  /** Frames and bytes that were read. */
  frames: number;
  bytes: number;
  /** Frames written. No rule matched `unchanged` of them. */
  written: number;
  bytesWritten: number;
  unchanged: number;
  /** Lost frames, by reason. */
  dropped: Losses;
  /** Frames of which the capture has only the beginning. */
  cutShort: number;
}

export interface ReformatOptions {
  /** Called between batches. */
  progress?: (summary: Readonly<Summary>) => void;
  signal?: AbortSignal;
}

/**
 * Sends frames through packet reformat actions of the software NIC, and writes the resulting frames, in order and with the
 * times of the frames that went in.
 */
export async function reformat(
  work: Work,
  frames: Iterable<CapturedFrame>,
  write: (frame: CapturedFrame) => void,
  { progress, signal }: ReformatOptions = {},
): Promise<Summary> {
  using devices = new Devices(work, BATCH);
  const encap = 'encap' in work;
  const fronts: Fronts = encap ? { sent: MAC, arrived: OUTER } : { sent: OUTER, arrived: MAC };
  const batch = new Batch(devices, BATCH, fronts);
  const refused: Losses = {};
  const summary: Summary = {
    frames: 0,
    bytes: 0,
    written: 0,
    bytesWritten: 0,
    unchanged: 0,
    dropped: {},
    cutShort: 0,
  };
  const run = async () => {
    const size = batch.size;
    const outcomes = await batch.run();
    for (const outcome of outcomes) emit(outcome, encap, write, summary);
    summary.dropped = { ...refused, ...devices.losses.since() };
    const missing = summary.frames - summary.written - total(summary.dropped);
    if (size > outcomes.length && missing > 0) refused['not_delivered'] = (refused['not_delivered'] ?? 0) + missing;
    progress?.(summary);
    signal?.throwIfAborted();
  };
  for (const frame of frames) {
    summary.frames += 1;
    summary.bytes += frame.data.length;
    if (frame.data.length < frame.originalLength) summary.cutShort += 1;
    const reason = refusal(frame.data.length);
    if (reason !== undefined) refused[reason] = (refused[reason] ?? 0) + 1;
    else batch.add(frame);
    if (batch.size === batch.capacity) await run();
  }
  if (batch.size > 0) await run();
  summary.dropped = { ...refused, ...devices.losses.since() };
  return summary;
}

/** Why a queue pair would not send a frame of that size. */
function refusal(bytes: number): string | undefined {
  if (bytes < SHORTEST_FRAME) return 'too_short_to_send';
  return bytes > LONGEST_FRAME ? 'too_long_to_send' : undefined;
}

function emit(
  { source, data }: Outcome,
  encap: boolean,
  write: (frame: CapturedFrame) => void,
  summary: Summary,
): void {
  // Encapsulation makes every matched frame longer.
  if (encap && data.length === source.data.length) summary.unchanged += 1;
  summary.written += 1;
  summary.bytesWritten += data.length;
  const missing = Math.max(source.originalLength - source.data.length, 0);
  write({ data, originalLength: data.length + missing, timestamp: source.timestamp });
}
