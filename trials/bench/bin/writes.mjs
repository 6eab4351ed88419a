await import('../dist/messages/writes.js');
