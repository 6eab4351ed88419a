import { closeSync, openSync } from 'node:fs';
import {
  type Block,
  ENHANCED_PACKET,
  FileBytes,
  SECTION_HEADER,
  blocks,
  option,
  packetOf,
} from '@verbs/lib/capture-files';

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

const OPTION_COMMENT = 1;
const INCOMPLETE = 'capture incomplete: ';

/** Walks over a capture's blocks. A file that is cut off in its last block is read up to there. */
export function summarize(path: string): CaptureSummary {
  const summary: CaptureSummary = { sections: 0, packets: 0, bytes: 0, sent: 0, received: 0, incomplete: [] };
  const descriptor = openSync(path, 'r');
  try {
    for (const block of blocks(new FileBytes(descriptor), path)) {
      if (block.type === SECTION_HEADER) addSection(summary, block);
      else if (block.type === ENHANCED_PACKET) addPacket(summary, block);
    }
  } finally {
    closeSync(descriptor);
  }
  return summary;
}

function addSection(summary: CaptureSummary, block: Block): void {
  summary.sections += 1;
  const comment = option(block, 16, OPTION_COMMENT);
  if (comment === undefined) return;
  const text = new TextDecoder().decode(comment).trimEnd();
  if (text.startsWith(INCOMPLETE)) summary.incomplete.push(text.slice(INCOMPLETE.length));
}

function addPacket(summary: CaptureSummary, block: Block): void {
  const packet = packetOf(block);
  if (packet === undefined) return;
  summary.packets += 1;
  summary.bytes += packet.length;
  if (packet.direction === 'received') summary.received += 1;
  else if (packet.direction === 'sent') summary.sent += 1;
}
