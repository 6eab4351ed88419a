await import('../dist/messages/socket-port.js');
