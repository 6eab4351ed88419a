await import('../dist/messages/zeromq.js');
