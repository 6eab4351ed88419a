await import('../dist/messages/comm-channel.js');
