import { checked, DocaError, DocaStatus } from '../base/errors.js';
import { type CreatedContext, native } from '../base/native.js';
import type { Connection } from '../base/objects.js';
import { ComchContext } from './context.js';
import { ContextState } from './events.js';

/** Transfers under way at a time, where the program says nothing. */
export const TASKS = 64;

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

  /** Throws once the context is not running any more. */
  protected checkRunning(): void {
    if (native.contextState(this.created.handle) === ContextState.RUNNING && this.connection.connected) return;
    throw new DocaError(
      DocaStatus.CONNECTION_RESET,
      this.syscall('create'),
      'it was stopped, or the connection has ended',
    );
  }

  protected override ended(): void {
    this.connection.forgetPath(this as never);
  }
}
