export interface Scene {
  /** The file that is moved: a path that can be read. */
  file: string;
  /** Where the packets of a run with losses go. */
  capture: string;
  /** Which packets are lost. */
  seed: number;
  signal: AbortSignal;
  /** Tells on standard error what comes next. */
  say: (text: string) => void;
}

/** What a chapter came to: its fields in the JSON document, and the same for people. */
export interface Outcome {
  document: Record<string, unknown>;
  text: string;
}

/** A part of the demo. Whatever happens, no process and no file of it is left when it has settled. */
export type Chapter = (scene: Scene) => Promise<Outcome>;
