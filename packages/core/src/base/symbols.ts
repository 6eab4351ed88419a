// The members that objects of this package offer to each other and not to the program. By Symbol.for, so that the ESM
// and the CJS copy of this package, which a program may load both, understand each other's objects.

/** The native handle of a resource. */
export const kHandle: unique symbol = Symbol.for('@verbs/core.handle') as never;
/** The addon that made a resource: that of its copy of this package. */
export const kCopy: unique symbol = Symbol.for('@verbs/core.copy') as never;
/** The kind of a resource, by its class name. */
export const kKind: unique symbol = Symbol.for('@verbs/core.kind') as never;
/** A parent gets to know a child, or that it closed. */
export const kAdopt: unique symbol = Symbol.for('@verbs/core.adopt') as never;
export const kRelease: unique symbol = Symbol.for('@verbs/core.release') as never;
/** An object, or a parent of it, is about to be closed. */
export const kClosing: unique symbol = Symbol.for('@verbs/core.closing') as never;
/** The addon closed something: an object and its children check whether they are closed. */
export const kSettle: unique symbol = Symbol.for('@verbs/core.settle') as never;
/** The id of a memory region or address handle in work requests. */
export const kRequestId: unique symbol = Symbol.for('@verbs/core.requestId') as never;
/** The events of a completion channel; the completion channel of a context. */
export const kEvents: unique symbol = Symbol.for('@verbs/core.events') as never;
/** A channel gets to know a completion queue. */
export const kRegister: unique symbol = Symbol.for('@verbs/core.register') as never;
/** A completion queue had an event. */
export const kNotified: unique symbol = Symbol.for('@verbs/core.notified') as never;
/** The events of a completion channel cannot be read any more. */
export const kFailed: unique symbol = Symbol.for('@verbs/core.failed') as never;
/** A completion queue raises an event for what is awaited, since the program takes the events itself. */
export const kArm: unique symbol = Symbol.for('@verbs/core.arm') as never;
/** A context gets to know an object that asynchronous events may be about. */
export const kElement: unique symbol = Symbol.for('@verbs/core.element') as never;
/** A batch of work requests, for a post call. */
export const kSelect: unique symbol = Symbol.for('@verbs/core.select') as never;
/** The records of a batch of completions, and how many of them are filled. */
export const kRecords: unique symbol = Symbol.for('@verbs/core.records') as never;
export const kFilled: unique symbol = Symbol.for('@verbs/core.filled') as never;
/** A completion queue awaits one request, gives one up, or abandons the requests of a queue pair. */
export const kAwait: unique symbol = Symbol.for('@verbs/core.await') as never;
export const kGiveUp: unique symbol = Symbol.for('@verbs/core.giveUp') as never;
export const kVacancies: unique symbol = Symbol.for('@verbs/core.vacancies') as never;
export const kAbandon: unique symbol = Symbol.for('@verbs/core.abandon') as never;
/** A completion queue keeps what has completed: some devices drop the completions of a queue pair with it. */
export const kKeep: unique symbol = Symbol.for('@verbs/core.keep') as never;
/** A queue pair closes a memory region when it is closed itself. */
export const kInherit: unique symbol = Symbol.for('@verbs/core.inherit') as never;
/** Serves a completion queue without a promise for each wait. */
export const kServe: unique symbol = Symbol.for('@verbs/core.serve') as never;
/** The number of an object in the messages of the diagnostics channels, and its children. */
export const kSerial: unique symbol = Symbol.for('@verbs/core.serial') as never;
export const kChildren: unique symbol = Symbol.for('@verbs/core.children') as never;
/** A queue pair is in another state by a vendor's call; or an event may have changed its state. */
export const kState: unique symbol = Symbol.for('@verbs/core.state') as never;
export const kSeeState: unique symbol = Symbol.for('@verbs/core.seeState') as never;
/** The last known state of a queue pair. */
export const kKnownState: unique symbol = Symbol.for('@verbs/core.knownState') as never;
/** The state that a queue pair is in now, as far as it tells. */
export const kPresentState: unique symbol = Symbol.for('@verbs/core.presentState') as never;
/** No further message comes for a receiver. */
export const kEnd: unique symbol = Symbol.for('@verbs/core.end') as never;
