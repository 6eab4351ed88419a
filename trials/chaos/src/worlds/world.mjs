/**
 * Where a process lives: its address, and the command that starts it there.
 * @typedef {object} Place
 * @property {string} address
 * @property {string[]} wrap the words in front of a command that runs there
 * @property {string} interface the network interface with the address
 */

/**
 * How the frames of the two ends travel.
 * @typedef {'process' | 'loopback' | 'shm' | 'veth'} LinkName
 */

/**
 * The network of a run.
 * @typedef {object} World
 * @property {LinkName} link
 * @property {1 | 2} processes how many processes the two ends are in
 * @property {Place[]} places one for each end
 * @property {string} options of every device
 * @property {() => void} close
 */

export {};
