#!/usr/bin/env node
await import('../dist/file-transfer.js');
