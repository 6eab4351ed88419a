/** An RC connection: the queue pair with its completion queue, the loop that polls it, and the failure of a completion. */
export { completions } from './completions.js';
export { Endpoint, type EndpointOptions } from './endpoint.js';
export { completionFailure } from './failure.js';
