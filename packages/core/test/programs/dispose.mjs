// Sends a message to the listener at a port, leaves the block of the connection, and says that it has: dispose.mjs PORT
import { dial } from '@verbs/core/rendezvous';

const connection = await dial({ port: Number(process.argv[2]) });
await connection.send('hello');
await connection[Symbol.asyncDispose]();
console.log('behind the block');
