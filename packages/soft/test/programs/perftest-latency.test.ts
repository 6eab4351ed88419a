import { testPrograms } from './perftest.js';

testPrograms(['ib_send_lat', 'ib_write_lat', 'ib_read_lat', 'ib_atomic_lat']);
