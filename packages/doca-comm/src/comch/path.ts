import { validate } from '@verbs/core/provider';
import { checked, DocaError, DocaStatus } from '../base/errors.js';
import type { Device } from '../base/device.js';
import { type CreatedContext, native } from '../base/native.js';
import type { Connection } from '../base/objects.js';
import { ComchContext } from './context.js';
import { ContextState } from './events.js';

/** Transfers under way at a time, where the program says nothing. */
const TASKS = 64;

/** The option `tasks`. `capability` is that of the device's maximum. */
export function tasksOf(tasks: unknown, device: Device, capability: number, syscall: string): number {
  if (tasks === undefined) return TASKS;
  const count = validate.integer(tasks, 'options.tasks', 1, 2 ** 20);
  const most = native.comchCapability(device.handle, capability);
  if (most <= 0 || count <= most) return count;
  throw new DocaError(DocaStatus.INVALID_VALUE, syscall, `options.tasks ${count}: the device's maximum is ${most}`);
}

/** What is wrong where the connection has no consumers and producers. */
export const noPathHint = (created: unknown): string | undefined =>
  created === -DocaStatus.NOT_PERMITTED
    ? 'the other end is one of the Comm Channel, which has no consumers and producers'
    : undefined;

/** What {@link Consumer} and {@link Producer} have in common: they belong to a connection, whose end has their engine. */
export abstract class ComchPath extends ComchContext {
  /** The connection that it belongs to. */
  readonly connection: Connection;

  /** @internal */
  constructor(connection: Connection, created: CreatedContext) {
    super(connection.end.engine, created);
    this.connection = connection;
    const status = native.startContext(created.handle);
    if (status < 0 && status !== -DocaStatus.IN_PROGRESS) {
      native.destroyContext(created.handle);
      checked(status, 'doca_ctx_start');
    }
    this.engine.add(created.id, this);
  }

  /** `doca_comch_consumer_get_id`, `doca_comch_producer_get_id`: unique in its connection. */
  get id(): number {
    return checked(native.pathId(this.created.handle), this.syscall('get_id'));
  }

  /** @internal */
  async started(): Promise<void> {
    const { handle } = this.created;
    const isRunning = () => {
      const state = native.contextState(handle);
      if (state === ContextState.RUNNING) return true;
      if (state === ContextState.STARTING) return undefined;
      throw new DocaError(DocaStatus.CONNECTION_ABORTED, 'doca_ctx_start', 'the connection has ended');
    };
    await this.wait(isRunning, undefined, 'doca_ctx_start');
  }

  protected abstract syscall(name: string): string;

  protected get isRunning(): boolean {
    return native.contextState(this.created.handle) === ContextState.RUNNING && this.connection.connected;
  }

  protected override ended(): void {
    this.connection.forgetPath(this as never);
  }
}
