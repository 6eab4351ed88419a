// Prints what this machine has of hbl devices, and why openDevice('hbl_0') fails if it does.
import { openDevice as openByName } from '@verbs/core';
import { listDevices, openDevice } from '@verbs/hbl';

function failureOf(open) {
  try {
    open().close();
    return undefined;
  } catch (error) {
    return error.message;
  }
}

const list = listDevices();
const devices = list.map(({ library, name }) => `${library} ${name}`);
const [named, byCore] = [failureOf(() => openDevice('hbl_0')), failureOf(() => openByName('hbl_0'))];
console.log(JSON.stringify({ devices, reason: list.reason, named, byCore }));
