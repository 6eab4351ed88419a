/** @import { World } from './world.mjs' */
import process from 'node:process';

let worlds = 0;

/** Two addresses of the loopback network that no other run of this machine is likely to have. */
function loopbackAddresses() {
  const number = worlds++;
  const net = `127.${64 + (process.pid % 64)}.${(process.pid >> 6) % 250}`;
  const first = 1 + ((number * 2) % 250);
  return [`${net}.${first}`, `${net}.${first + 1}`];
}

/**
 * Two processes, UDP over the loopback network of the machine.
 * @returns {World}
 */
export function loopback() {
  const [one = '', two = ''] = loopbackAddresses();
  return {
    link: 'loopback',
    processes: 2,
    places: [
      { address: one, wrap: [], interface: 'lo' },
      { address: two, wrap: [], interface: 'lo' },
    ],
    options: 'link=udp',
    close: () => undefined,
  };
}

/**
 * One process with both ends, whose frames never leave it.
 * @returns {World}
 */
export function oneProcess() {
  return { ...loopback(), link: 'process', processes: 1, options: 'link=process' };
}

/**
 * Two processes of one user, which share memory.
 * @returns {World}
 */
export function sharedMemory() {
  return { ...loopback(), link: 'shm', options: 'link=shm' };
}
