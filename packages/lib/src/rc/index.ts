/** The loop that polls a connection's completion queue, and the failure of a completion. */
export { completions } from './completions.js';
export { completionFailure } from './failure.js';
