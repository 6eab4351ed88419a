import { type Command, InvalidArgumentError } from 'commander';
import { Failure } from '@verbs/lib/failure';

/** Ctrl-C ends the current work, and the results so far are printed. A second Ctrl-C ends the program at once. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(name, () => {
      controller.abort(new Failure(`stopped by ${name}`));
    });
  }
  return controller.signal;
}

/** Refuses options that only another form of the command takes. */
export function refuseOptions(command: Command, names: readonly string[], form: string): void {
  const given = names.filter((name) => command.getOptionValueSource(name) === 'cli');
  if (given.length === 0) return;
  const flags = given.map((name) => `--${name}`).join(', ');
  throw new Failure(`${flags}: only for ${form}`, { hint: 'see --help', exitCode: 2 });
}

/** An option's value: seconds, at most a day. */
export function seconds(min: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !(value >= min && value <= 86400))
      throw new InvalidArgumentError(`seconds from ${min} to 86400 are needed.`);
    return value;
  };
}

/** An option's value: a whole number. */
export function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isInteger(value) || value < min || value > max) {
      throw new InvalidArgumentError(`a whole number from ${min} to ${max} is needed.`);
    }
    return value;
  };
}
