#!/usr/bin/env node
await import('../dist/comm-file.js');
