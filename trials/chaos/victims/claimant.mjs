// A process that comes to the address of somebody else: tries to open its device, as often as the first argument says, and
// prints the codes that it saw.
import process from 'node:process';
import { openDevice } from '@verbs/core';

const seen = new Set();
for (let count = Number(process.argv[2]); count > 0; count--) {
  try {
    openDevice('claimant0').close();
    seen.add('opened');
  } catch (error) {
    seen.add(error.code);
  }
}
console.log([...seen].join(' '));
