/**
 * The members of an enumeration. An enumeration of TypeScript is a type of its own: it takes a `number` (a value from C, or
 * flags that are or-ed), but no number that is none of its values, and no value of another enumeration.
 *
 * `& number` changes nothing but this: a member in an object that a variable holds keeps its own type, as one of an
 * `as const` object does. So `const wr = { opcode: WrOpcode.SEND }` is a request that `postSend` takes.
 */
export type Members<Enum extends Record<string, number | string>> = {
  readonly [Name in keyof Enum as Name extends string ? Name : never]: Enum[Name] & number;
};

/** A plain object with the members of an enumeration, without the names by value that an `enum` also has. */
export function members<Enum extends Record<string, number | string>>(values: Enum): Members<Enum> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => typeof value === 'number'),
  ) as unknown as Members<Enum>;
}

/**
 * `Then` if the compiler knows that `T` is among `Some` members of an enumeration. A `number` says nothing, but is
 * assignable to each of them; its text is not.
 */
export type Among<T extends number, Some extends number, Then, Else> = `${T}` extends `${Some}` ? Then : Else;
