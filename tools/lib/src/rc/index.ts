/** An RC connection: the queue pair with its completion queue, and the loop that polls it. */
export { completions } from './completions.js';
export { Endpoint, type EndpointOptions } from './endpoint.js';
