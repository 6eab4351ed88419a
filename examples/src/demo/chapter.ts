export interface Scene {
  /** The file that is moved: a path that can be read. */
  file: string;
  /** Where the packets of a run with losses go. */
  capture: string;
  /** Which packets are lost. */
  seed: number;
  signal: AbortSignal;
  /** Announces the next step on standard error. */
  say: (text: string) => void;
}

/** The result of a chapter: fields of the JSON document, and a text for people. */
export interface Outcome {
  document: Record<string, unknown>;
  text: string;
}

/** A part of the demo. It leaves neither processes nor files behind, also after an error. */
export type Chapter = (scene: Scene) => Promise<Outcome>;
