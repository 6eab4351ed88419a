export { type CapturedFrame, CaptureFileError, type CaptureFormat } from './frame.js';
export { FrameReader } from './reader.js';
export { FrameWriter } from './writer.js';
