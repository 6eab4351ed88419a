await import('../dist/rc/local.js');
