/** Something the user can put right. The message says what is wrong and what to do; no stack is shown. */
export class Problem extends Error {}
