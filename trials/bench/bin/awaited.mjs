await import('../dist/awaited/main.js');
