import { testPrograms } from './perftest.js';

testPrograms(['ib_send_bw', 'ib_write_bw', 'ib_read_bw', 'ib_atomic_bw']);
