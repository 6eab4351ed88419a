import { natural, onlyFields, text } from './arguments.js';
import { CAPTURE_OPTIONS, type CaptureOptions } from './config.js';
import { check } from './errors.js';
import { native } from './native.js';

/** The newest capture of each device: stop() of an older one must not end it. */
const running = new Map<string, Capture>();

/** A capture of a device's packets; see {@link SoftNic.capture}. */
export class Capture implements Disposable {
  readonly #device: string;
  /** The path as given: `%p` is the process id, `%d` the device's name. */
  readonly path: string;

  constructor(device: string, path: string, options: CaptureOptions) {
    text('path', path);
    onlyFields('options', options, CAPTURE_OPTIONS);
    const { maxBytes = 0, snapLength = 0 } = options;
    const limit = natural('options.maxBytes', maxBytes, 2n ** 64n - 1n);
    const snap = natural('options.snapLength', snapLength, 2n ** 32n - 1n);
    check(native().captureStart(device, path, limit, snap), 'verbs_soft_capture_start');
    this.#device = device;
    this.path = path;
    running.set(device, this);
  }

  /**
   * Ends the capture and completes its file. No effect if the capture has ended or another one has replaced it.
   *
   * @throws SoftError the error that ended the capture early (ENOSPC for a full disk).
   */
  stop(): void {
    if (running.get(this.#device) !== this) return;
    running.delete(this.#device);
    check(native().captureStop(this.#device), 'verbs_soft_capture_stop');
  }

  /** `using` ends the capture at the end of its block. */
  [Symbol.dispose](): void {
    this.stop();
  }
}
