import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { Endpoint } from '@verbs/doca-comm';
import { Failure } from '../failure/index.js';
import { SourceFile } from '../files/source-file.js';
import { type FileAnswer, headerMessage, isMarked, readAnswer } from './protocol.js';

export interface FileSent {
  bytes: number;
  messages: number;
  /** From the header to the peer's answer. */
  seconds: number;
  /** As the peer computed it. */
  sha256: string;
}

export interface SendFileOptions {
  signal: AbortSignal;
  onProgress?: (bytes: number, total: number) => void;
  /** Messages that are no answer. */
  onMessage?: (message: Uint8Array) => void;
}

/** Read at once, in messages: one system call for each would be many. */
const MESSAGES_PER_READ = 64;

/**
 * Sends a file to the service that a client is connected to, and waits for its SHA-256.
 *
 * @throws Failure if the file cannot be read, if the peer refuses it, or if what it got is another file.
 */
export async function sendFile(endpoint: Endpoint, path: string, options: SendFileOptions): Promise<FileSent> {
  const file = SourceFile.open(path);
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  try {
    const start = performance.now();
    const hearing = hear(endpoint, signal, options.onMessage);
    const speaking = speak(endpoint, file, signal, options.onProgress);
    // A refusal comes before the last byte has gone; one that fails ends the other.
    const first = await Promise.race([hearing, speaking.then(() => undefined)]);
    if (first !== undefined && 'error' in first) throw refused(path, first);
    const [answer, sent] = await Promise.all([hearing, speaking]);
    const seconds = (performance.now() - start) / 1000;
    if ('error' in answer) throw refused(path, answer);
    if (answer.bytes !== file.size || answer.sha256 !== sent.sha256) {
      throw new Failure(
        `the peer has ${answer.bytes} bytes with SHA-256 ${answer.sha256}; ${path} has ${file.size} with ${sent.sha256}`,
        { hint: 'the file was changed on the way: send it again' },
      );
    }
    return { bytes: file.size, messages: sent.messages, seconds, sha256: answer.sha256 };
  } finally {
    over.abort(new Error('the transfer is over'));
    file.close();
  }
}

function refused(path: string, { error }: { error: string }): Failure {
  // The peer's words, which may hold anything, go to a terminal.
  return new Failure(`the peer does not take ${path}: ${JSON.stringify(error)}`, { hint: 'see what the service says' });
}

async function speak(
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

async function hear(
  endpoint: Endpoint,
  signal: AbortSignal,
  onMessage: SendFileOptions['onMessage'],
): Promise<FileAnswer> {
  for (;;) {
    const { data } = await endpoint.receive({ signal });
    if (isMarked(data)) return readAnswer(data);
    onMessage?.(data);
  }
}
