/** The line of JSON in which a program reports. */
export type Measurement = Record<string, number | string>;

/** @throws Error if the program did not measure that. */
export function figureOf(measurement: Measurement, field: string): number {
  const value = measurement[field];
  if (typeof value !== 'number') throw new Error(`the measurement ${JSON.stringify(measurement)} has no ${field}`);
  return value;
}
