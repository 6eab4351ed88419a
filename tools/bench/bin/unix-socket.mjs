await import('../dist/messages/unix-socket.js');
