import type { Chapter } from '../chapter.js';
import { commChannel } from './comm-channel.js';
import { fileTransfer } from './file-transfer.js';
import { reformatting } from './reformat.js';
import { tunnel } from './tunnel.js';

/** In the order in which they are played. */
export const chapters: readonly Chapter[] = [fileTransfer, commChannel, tunnel, reformatting];
