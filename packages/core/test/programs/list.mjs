// Prints the devices and each library's reason. The argument is the package's entry, for copies of it.
const { listDevices, probeLibraries } = await import(process.argv[2] ?? '../../dist/index.js');

const [system, soft] = probeLibraries();
const devices = listDevices().map(({ name, library }) => ({ name, library }));
console.log(JSON.stringify({ devices, system, soft }, (_, value) => (typeof value === 'bigint' ? `${value}` : value)));
