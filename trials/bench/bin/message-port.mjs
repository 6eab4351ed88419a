await import('../dist/messages/message-port.js');
