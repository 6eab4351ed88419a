/** Capture files: frames read from and written to pcap and pcapng. */
export {
  type CapturedFrame,
  CaptureFileError,
  type CaptureFormat,
  type Direction,
  type FrameOptions,
  type FrameRecord,
} from './frame.js';
export { FrameReader } from './frame-reader.js';
export { FrameWriter } from './frame-writer.js';
export { type JournalFields, journalSection } from './journal.js';
export { type CapturedPacket, packets } from './packets.js';
