#!/usr/bin/env node
await import('../dist/demo.js');
