/** @internal The watcher of an identifier's events. */
export const kWatcher: unique symbol = Symbol('watcher');
/** @internal The descriptor of an event channel on Node's loop. */
export const kEvents: unique symbol = Symbol('events');
/** @internal Tells a channel of an identifier that joins or leaves it. */
export const kRegister: unique symbol = Symbol('register');
/** @internal Makes a channel take its events without being asked. */
export const kDispatch: unique symbol = Symbol('dispatch');
/** @internal Makes a channel read on after a failure. */
export const kResume: unique symbol = Symbol('resume');
/** @internal Waits for an event of an identifier. */
export const kExpect: unique symbol = Symbol('expect');
/** @internal Moves an identifier to another channel. */
export const kMove: unique symbol = Symbol('move');
