/** The options of the waiting calls. */
export interface WaitOptions {
  /** Ends the waiting: the promise rejects with the signal's reason. */
  signal?: AbortSignal;
}
