import { types } from 'node:util';
import { validate } from '@verbs/core/provider';
import { MOST_BYTES } from '../base/bytes.js';
import { type About, done } from '../base/calls.js';

/** The least bytes of a command and of its output in the device's manual. */
const LEAST = 16;

/** Checks a command, and makes the array for its output. */
export function request(input: unknown, outLength: unknown): { bytes: Uint8Array; out: Uint8Array } {
  if (!types.isUint8Array(input)) throw validate.typeError('input', 'a Uint8Array with a command', input);
  const wanted = `${LEAST} to ${MOST_BYTES}, as commands have`;
  if (input.byteLength < LEAST || input.byteLength > MOST_BYTES) {
    throw validate.rangeError('input.byteLength', wanted, input.byteLength);
  }
  return { bytes: input, out: new Uint8Array(validate.integer(outLength, 'outLength', LEAST, MOST_BYTES)) };
}

/** Throws the error of a failed command. The output begins with the device's own status. */
export function exchange(result: number, out: Uint8Array, input: Uint8Array, about: About): void {
  if (result >= 0) return;
  done(result, { ...about, detail: refusal(out, input) });
}

export function refusal(out: Uint8Array, input: Uint8Array): string {
  const hex = (value: number) => `0x${value.toString(16)}`;
  const opcode = hex(viewOf(input).getUint16(0));
  const [status] = out;
  if (status === undefined || status === 0) return `with command ${opcode}`;
  return `with command ${opcode}: status ${hex(status)}, syndrome ${hex(viewOf(out).getUint32(4))}`;
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
