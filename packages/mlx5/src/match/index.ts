export { decodeMatch } from './decode.js';
export { encodeMatch } from './encode.js';
export type { EncodedMatch, Match, MatchFields, MatchIp, MatchParams } from './params.js';
