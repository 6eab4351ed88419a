// Node.js passes itself off as a host whose loop is not libuv's.
Object.defineProperty(process, 'versions', { value: { ...process.versions, bun: '1.4.5' } });
