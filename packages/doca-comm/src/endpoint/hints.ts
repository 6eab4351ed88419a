import { nameTooLong } from '../base/arguments.js';
import { DocaStatus } from '../base/errors.js';
import type { NativeEndpoint } from './native-endpoint.js';

/** Remedies for a failed `listen()`, by the status. */
export function listenHint(name: string, endpoint: NativeEndpoint): Record<number, string> {
  const reason = endpoint.lastError() || 'another one on this representor has that name';
  return {
    [DocaStatus.CONNECTION_ABORTED]:
      nameTooLong(name, endpoint.maxNameLength()) ?? `the service ${name} cannot be registered: ${reason}`,
    [DocaStatus.NOT_SUPPORTED]: 'a service runs on the DPU; on a host, connect',
    [DocaStatus.BAD_STATE]: 'a service needs a device and a representor of it',
    [DocaStatus.NOT_PERMITTED]: 'the endpoint listens or is connected already',
  };
}

/** Remedies for a failed `connect()`, by the status. */
export function connectHint(name: string, maxLength: number): Record<number, string> {
  return {
    [DocaStatus.CONNECTION_ABORTED]:
      nameTooLong(name, maxLength) ??
      `no service named ${name} is listening on the DPU for this function, or it rejected the client; start it first`,
    [DocaStatus.NOT_SUPPORTED]: 'a client runs on the host; on the DPU, listen',
    [DocaStatus.BAD_STATE]: 'a client needs a device',
    [DocaStatus.NOT_PERMITTED]: 'the endpoint listens or is connected already',
  };
}

/** Remedies for a failed receive, by the status. */
export const receiveHints: Record<number, string> = {
  [DocaStatus.CONNECTION_RESET]: 'a peer is gone (error.peer); disconnect it',
  [DocaStatus.NOT_CONNECTED]: 'listen or connect first; a client whose service is gone disconnects and connects again',
};
