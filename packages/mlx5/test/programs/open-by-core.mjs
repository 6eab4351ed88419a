// Opens the model's device by @verbs/core alone: nothing here has listed the devices of @verbs/mlx5.
import { listDevices, openDevice } from '@verbs/core';

const before = listDevices({ library: 'soft' }).map(({ name }) => name);
const ctx = openDevice('mlx5_soft0');
console.log(JSON.stringify({ before, name: ctx.device.name, vendorId: ctx.queryDevice().vendorId }));
ctx.close();
