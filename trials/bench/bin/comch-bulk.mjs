await import('../dist/messages/comch-bulk.js');
