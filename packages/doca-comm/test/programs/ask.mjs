// A client that sends COUNT messages of growing size and compares the replies: ask.mjs NAME COUNT
import { Endpoint, openDevice } from '../../dist/index.js';

const [name, count] = [process.argv[2], Number(process.argv[3])];
const endpoint = new Endpoint({ device: openDevice('doca_host0') });
try {
  endpoint.connect(name);
  for (let n = 0; n < count; n++) {
    const message = Buffer.alloc((n * 17) % 4081, n);
    await endpoint.send(message);
    const { data } = await endpoint.receive();
    if (!message.equals(data)) throw new Error(`answer ${n} is not what was sent`);
  }
  await endpoint.drained();
  endpoint.close();
  process.stdout.write(`${count} answers\n`);
} catch (error) {
  process.stdout.write(`${error.code ?? error.message}\n`);
  process.exit(1);
}
