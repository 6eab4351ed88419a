await import('../dist/messages/mpi.js');
