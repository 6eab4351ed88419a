/**
 * An object with the members of an enumeration. An enumeration of TypeScript is a type of its own: it takes a `number`
 * (a value from C, or flags that are or-ed), but no number that is none of its values, and no value of another
 * enumeration. It is only declared: at run time there is a plain object, without the reverse names of an `enum`.
 */
export type Members<Enum extends Record<string, number | string>> = {
  readonly [Name in keyof Enum as Name extends string ? Name : never]: Enum[Name];
};
