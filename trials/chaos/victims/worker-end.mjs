// An end in a thread of its own.
import { parentPort, workerData } from 'node:worker_threads';
import { answerTo } from './answers.mjs';
import { End } from './end.mjs';

const end = new End(workerData);
parentPort.on('message', async ({ id, command, argument }) => {
  parentPort.postMessage(await answerTo(id, () => end.run(command, argument)));
});
