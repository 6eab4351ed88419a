import type { FileSent } from '@verbs/lib/comm';
import type { Chapter } from '../chapter.js';
import { Child } from '../child.js';

const PROGRAM = 'comm-file';
const DEVICES = 'doca_host0,kind=doca,role=host;doca_dpu0,kind=doca,role=dpu';

/** A process of the host sends the file to one of its DPU over the Comm Channel, and gets the SHA-256 back. */
export const commChannel: Chapter = async ({ file, signal, say }) => {
  say(`Sending ${file} from a host to its DPU over the DOCA Comm Channel`);
  const service = `verbs-demo-${process.pid}`;
  const children: Child<FileSent>[] = [];
  const start = (name: string, args: string[]) => {
    const child = new Child<FileSent>(name, PROGRAM, args, DEVICES);
    children.push(child);
    return child;
  };
  const stop = () => {
    for (const child of children) void child.end();
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    await start('DPU', ['dpu', service]).listening();
    const sent = await start('host', ['host', service, file]).report();
    return { document: { comm: sent }, text: report(sent) };
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    await Promise.all(children.map((child) => child.end()));
  }
};

function report({ bytes, messages, seconds, sha256 }: FileSent): string {
  const rate = (bytes / seconds / 1e6).toFixed(1);
  return `
From the host to its DPU over the DOCA Comm Channel: ${bytes} bytes in ${messages} messages, ${seconds.toFixed(3)} s,
${rate} MB/s, with both digests computed on the way. The DPU answered with the SHA-256 of what it got, which is the file's:
  ${sha256}
`;
}
