// Which ends of a call are right.

/** What hostile getters and traps throw: it comes out of the call as it is. */
export class Trap extends TypeError {}

/** Whether something that was thrown is one of the promised kinds. */
export function isPromised(core, error) {
  return error instanceof core.VerbsError || error instanceof TypeError || error instanceof RangeError;
}

export class Failure extends Error {
  constructor(message, cause) {
    super(message, { cause });
    this.name = 'Failure';
  }
}
