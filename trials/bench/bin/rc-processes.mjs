await import('../dist/rc/processes.js');
