// Leaves everything open and waits for nothing.
import { Endpoint, openDevice, openRepresentor } from '../../dist/index.js';

const device = openDevice('doca_dpu0');
const service = new Endpoint({ device, deviceRep: openRepresentor(device, '5f5f:3b:00.0') });
service.listen('idle');
const client = new Endpoint({ device: openDevice('doca_host0') });
const peer = client.connect('idle');
service.recvFrom();
await peer.established();
await client.send(Buffer.from('x'));
