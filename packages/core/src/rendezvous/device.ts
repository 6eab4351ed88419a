import type { Context } from '../device/context.js';
import { openDevice } from '../device/open-device.js';
import type { ProtectionDomain } from '../device/protection-domain.js';
import { handleOf } from '../lifetime/resource.js';

/** The protection domain of connections: the program's, or one of a device that goes when nobody uses it any more. */
export class Device {
  readonly pd: ProtectionDomain;
  readonly #context: Context | undefined;
  #users = 1;

  constructor(pd: unknown) {
    if (pd === undefined) {
      this.#context = openDevice();
      this.pd = this.#context.allocPd();
    } else {
      handleOf(pd, 'ProtectionDomain', 'options.pd', 'ibv_create_qp');
      this.pd = pd as ProtectionDomain;
    }
  }

  /** False: nobody used it any more, and it is closed. */
  use(): boolean {
    if (this.#users === 0) return false;
    this.#users++;
    return true;
  }

  close(): void {
    if (--this.#users === 0) this.#context?.close();
  }
}
