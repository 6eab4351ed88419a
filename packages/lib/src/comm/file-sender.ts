import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { Endpoint } from '@verbs/doca-comm';
import { Failure } from '../failure/index.js';
import { SourceFile } from '../files/source-file.js';
import { type FileResponse, headerMessage, isMarked, readResponse } from './protocol.js';

export interface FileSent {
  bytes: number;
  messages: number;
  /** From the header to the peer's response. */
  seconds: number;
  /** As the peer computed it. */
  sha256: string;
}

export interface SendFileOptions {
  signal: AbortSignal;
  onProgress?: (bytes: number, total: number) => void;
  /** Called with every message that is not the response. */
  onMessage?: (message: Uint8Array) => void;
}

/** Messages that one read of the file fills: a system call for each would cost too much. */
const MESSAGES_PER_READ = 64;

/**
 * Sends a file to the service that a client is connected to, and waits for its SHA-256.
 *
 * @throws Failure if the file cannot be read, if the peer rejects it, or if the peer received other bytes.
 */
export async function sendFile(endpoint: Endpoint, path: string, options: SendFileOptions): Promise<FileSent> {
  const file = SourceFile.open(path);
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  try {
    const start = performance.now();
    const receiving = receiveResponse(endpoint, signal, options.onMessage);
    const sending = sendMessages(endpoint, file, signal, options.onProgress);
    // A rejection may arrive before the last byte is sent; a failure of either ends both.
    const first = await Promise.race([receiving, sending.then(() => undefined)]);
    if (first !== undefined && 'error' in first) throw rejected(path, first);
    const [response, sent] = await Promise.all([receiving, sending]);
    const seconds = (performance.now() - start) / 1000;
    if ('error' in response) throw rejected(path, response);
    if (response.bytes !== file.size || response.sha256 !== sent.sha256) {
      throw new Failure(
        `the peer has ${response.bytes} bytes with SHA-256 ${response.sha256}; ${path} has ${file.size} with ${sent.sha256}`,
        { hint: 'the file was changed on the way: send it again' },
      );
    }
    return { bytes: file.size, messages: sent.messages, seconds, sha256: response.sha256 };
  } finally {
    over.abort(new Error('the transfer is over'));
    file.close();
  }
}

function rejected(path: string, { error }: { error: string }): Failure {
  // The peer's text goes to a terminal, so control characters are escaped.
  return new Failure(`the peer rejects ${path}: ${JSON.stringify(error)}`, {
    hint: 'the messages of the service give the reason',
  });
}

async function sendMessages(
  endpoint: Endpoint,
  file: SourceFile,
  signal: AbortSignal,
  onProgress: SendFileOptions['onProgress'],
): Promise<{ sha256: string; messages: number }> {
  const hash = createHash('sha256');
  const size = endpoint.maxMsgSize;
  const bytes = new Uint8Array(size * MESSAGES_PER_READ);
  let messages = 0;
  await endpoint.send(headerMessage({ name: basename(file.path), bytes: file.size }), undefined, { signal });
  for (let position = 0; position < file.size; position += bytes.length) {
    const part = bytes.subarray(0, Math.min(bytes.length, file.size - position));
    file.read(part, position);
    hash.update(part);
    for (let at = 0; at < part.length; at += size, messages++) {
      await endpoint.send(part.subarray(at, at + size), undefined, { signal });
    }
    onProgress?.(position + part.length, file.size);
  }
  return { sha256: hash.digest('hex'), messages };
}

async function receiveResponse(
  endpoint: Endpoint,
  signal: AbortSignal,
  onMessage: SendFileOptions['onMessage'],
): Promise<FileResponse> {
  for (;;) {
    const { data } = await endpoint.receive({ signal });
    if (isMarked(data)) return readResponse(data);
    onMessage?.(data);
  }
}
