import { constants } from 'node:os';

/** The errno values of this system, by name: `errno.EINVAL`. */
export const errno: typeof constants.errno = constants.errno;
