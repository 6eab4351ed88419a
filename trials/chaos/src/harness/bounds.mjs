/** The retries of the traffic's connections: eight times 0.27 s. A dead peer of a Comm Channel is noticed within 2 s. */
const RETRY_MS = 2150;

/** A step of a victim that waits for nothing else; much for a process, and for a loaded machine not unheard of. */
export const STEP_MS = 20_000;

/** From the end of a disturbance until both ends have stopped: all retries, and what a loaded machine adds. */
export const STOP_MS = RETRY_MS + 8000;

/** How long a program may take to see what has arrived. */
export const ARRIVAL_MS = 5000;
