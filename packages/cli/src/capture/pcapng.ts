import { truncateSync } from 'node:fs';
import { FrameReader } from '@verbs/lib/capture-files';

/** The summary of a pcapng file. */
export interface CaptureSummary {
  /** Sections: one for each process and device that captured. */
  sections: number;
  packets: number;
  /** Bytes of the packets on the wire, from the IP header on, even where the capture holds fewer. */
  bytes: number;
  sent: number;
  received: number;
  /** Why packets are missing (a full disk, for one), in the words that the NIC left in its section. */
  incomplete: string[];
}

const INCOMPLETE = 'capture incomplete: ';

/** Walks over a capture. A file that is cut off in its last block is read up to there. */
export function summarize(path: string): CaptureSummary {
  using reader = new FrameReader(path, { rawIp: true, cutOff: 'read' });
  return walk(reader);
}

/** The same of one that another one will follow in its file: half a block at its end goes, since nothing behind it could be read. */
export function summarizePart(path: string): CaptureSummary {
  using reader = new FrameReader(path, { rawIp: true, cutOff: 'read' });
  const summary = walk(reader);
  if (reader.cutOff) truncateSync(path, reader.end);
  return summary;
}

function walk(reader: FrameReader): CaptureSummary {
  const summary: CaptureSummary = { sections: 0, packets: 0, bytes: 0, sent: 0, received: 0, incomplete: [] };
  for (const { direction, length } of reader.records()) {
    summary.packets += 1;
    summary.bytes += length;
    if (direction === 'received') summary.received += 1;
    else if (direction === 'sent') summary.sent += 1;
  }
  summary.sections = reader.comments.length;
  summary.incomplete = reader.comments
    .filter((comment) => comment.startsWith(INCOMPLETE))
    .map((comment) => comment.slice(INCOMPLETE.length));
  return summary;
}
