// The objects by name, for files below them: a peer names its endpoint and a connection its end, while these make the
// peers and the connections. As in C, the ring is opened by declaring the name ahead of the definition. These are the only
// imports upwards, and only files that cannot import the class itself use them (`npm run lint rooms`).
export type { Connection } from '../comch/connection.js';
export type { ComchServerOrClient } from '../comch/server-or-client.js';
export type { Endpoint } from '../endpoint/endpoint.js';
