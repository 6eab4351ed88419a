/** Capture files: the blocks and packets of a pcapng file, and Ethernet frames read from and written to pcap and pcapng. */
export { type Block, type BlockOptions, blocks } from './blocks.js';
export { ENHANCED_PACKET, INTERFACE, PACKET, SECTION_HEADER, SIMPLE_PACKET } from './block-types.js';
export { FileBytes } from './file-bytes.js';
export { type CapturedFrame, CaptureFileError, type CaptureFormat, type Direction } from './frame.js';
export { FrameReader } from './frame-reader.js';
export { FrameWriter } from './frame-writer.js';
export { type CapturedPacket, option, packetOf, packets } from './packets.js';
