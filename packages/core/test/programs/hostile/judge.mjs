// Which ends of a call are right.

/** What hostile getters and traps throw: it comes out of the call as it is. */
export class Trap extends TypeError {}

/** Whether something that was thrown is of one of the promised kinds: the package's own error, or one of JavaScript's. */
export function isPromised(ownErrors, error) {
  return [...ownErrors, TypeError, RangeError].some((kind) => error instanceof kind);
}

export class Failure extends Error {
  constructor(message, cause) {
    super(message, { cause });
    this.name = 'Failure';
  }
}
