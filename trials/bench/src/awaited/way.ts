/** One of two processes that exchange messages and never poll; both check the received bytes. */
interface WayEnd extends Disposable {
  /** The address for the other end. */
  readonly address: string;
  join(theirs: string): Promise<void>;
}

export interface ServingEnd extends WayEnd {
  /** Answers each message, as long as the other process is there. */
  serve(): Promise<void>;
}

export interface MeasuringEnd extends WayEnd {
  /** Makes a round trip for each sample, which is its time in milliseconds. */
  measure(samples: Float64Array): Promise<void>;
}

/** A kind of message, for messages of `size` bytes. */
export interface Way {
  serving: (size: number) => ServingEnd;
  measuring: (size: number) => MeasuringEnd;
}
