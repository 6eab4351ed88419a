await import('../dist/messages/socket.js');
