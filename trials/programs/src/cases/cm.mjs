// The programs of rdmacm-utils, qperf and perftest, connected by librdmacm.
import { spawnSync } from 'node:child_process';
import { newPort, words } from './case.mjs';

/** @import { Case } from './case.mjs' */
/** @import { Place } from '../places.mjs' */

/** @param {Place} place @returns {Generator<Case>} */
export function* cmCases({ name, compiler, server: { address }, client }) {
  for (const [server, client] of [
    ['-s -C 20 -v', '-c -C 20 -v -V'],
    ['-s -C 1000', '-c -C 1000 -V'],
    ['-s -C 20 -S 65535', '-c -C 20 -S 65535 -V'],
    ['-s -q -C 10', '-c -q -C 10 -V'],
    ['-s -P', '-c -C 50 -V'],
  ]) {
    const port = newPort();
    yield {
      program: 'rping',
      name: client ?? '',
      port,
      server: words(`rping ${server} -p ${port}`),
      client: words(`rping ${client} -p ${port} -a ${address}`),
      stays: server === '-s -P',
    };
  }
  for (const args of ['', '-c 20 -C 10 -S 4096']) {
    const port = newPort();
    yield {
      program: 'ucmatose',
      name: args,
      port,
      server: words(`ucmatose ${args} -p ${port}`),
      client: words(`ucmatose ${args} -p ${port} -s ${address}`),
      prints: /return status 0/,
    };
  }
  yield {
    program: 'udaddy',
    name: '',
    port: 7174,
    server: ['udaddy'],
    client: ['udaddy', '-s', address],
    prints: /return status 0/,
  };
  const many = words('udaddy -c 10 -C 10 -S 1000');
  yield {
    program: 'udaddy',
    name: '-c 10 -C 10 -S 1000',
    port: 7174,
    server: many,
    client: [...many, '-s', address],
    prints: /return status 0/,
  };
  yield* endpoints(address);
  const group = words('mckey -m 239.7.7.7 -c 1');
  yield {
    program: 'mckey',
    name: 'a multicast group',
    server: [...group, '-b', address],
    client: [...group, '-s', '-b', client.address],
    prints: /return status 0/,
  };
  yield cmtime(compiler, address);
  yield* perftest(address, name === 'hosts' ? 1 : 0);
  yield* qperf(address);
  yield {
    program: 'ibv_asyncwatch',
    name: name,
    client: words('stdbuf -oL ibv_asyncwatch -d soft0'),
    endless: /async event FD/,
    alone: true,
  };
}

/**
 * Since release 60 of rdma-core its ends meet over TCP first.
 * @param {string[]} prefix
 * @param {string} address
 * @returns {Case}
 */
function cmtime(prefix, address) {
  const port = newPort();
  const usage = spawnSync('env', [...prefix, 'cmtime', '-h'], { encoding: 'utf8' });
  const meets = `${usage.stdout}${usage.stderr}`.includes('controller_address');
  const both = `cmtime -c 100 -p ${port}`;
  return {
    program: 'cmtime',
    name: '-c 100',
    port,
    server: words(meets ? `${both} -L -C ${address} -b ${address}` : both),
    client: words(meets ? `${both} -C ${address} -b ${address}` : `${both} -s ${address}`),
    prints: /disconnect/,
    stays: true,
  };
}

/** Synchronous calls: rdma_getaddrinfo, rdma_create_ep. @param {string} address @returns {Generator<Case>} */
function* endpoints(address) {
  const port = newPort();
  yield {
    program: 'rdma_client',
    name: '',
    port,
    server: words(`rdma_server -p ${port}`),
    client: words(`rdma_client -s ${address} -p ${port}`),
    prints: /end 0/,
  };
  for (const [name, type] of /** @type {const} */ ([
    ['RC', 'r'],
    ['XRC', 'x'],
  ])) {
    const shared = newPort();
    yield {
      program: 'rdma_xclient',
      name,
      port: shared,
      server: words(`rdma_xserver -c ${type} -p ${shared}`),
      client: words(`rdma_xclient -c ${type} -s ${address} -p ${shared}`),
      prints: /end 0/,
    };
  }
  for (const program of ['rstream', 'riostream', 'rcopy', 'udpong']) {
    yield { program, name: '', client: [program], cannot: 'rsockets are left out: packages/rdmacm/docs/functions.md' };
  }
}

/**
 * @param {string} address
 * @param {number} index of the GID where the connection manager does not choose: the first one leads to its host only
 * @returns {Generator<Case>}
 */
function* perftest(address, index) {
  const tests = ['send_lat', 'send_bw', 'write_lat', 'write_bw', 'read_lat', 'read_bw', 'atomic_lat', 'atomic_bw'];
  // Addresses over TCP: of XRC queue pairs.
  for (const args of ['send_lat -c XRC', 'send_bw -c XRC', 'write_lat -c XRC', 'read_lat -c XRC']) {
    const port = newPort();
    const command = words(`ib_${args} -x ${index} -F -n 200 -p ${port}`);
    yield { program: 'perftest', name: args, port, server: command, client: [...command, address], prints: /#bytes/ };
  }
  for (const args of [...tests, 'send_lat -c UD', 'send_bw -c UD -s 1024', 'send_bw -b', 'write_bw -q 4']) {
    const port = newPort();
    const command = words(`ib_${args} -R -F -n 200 -p ${port}`);
    yield {
      program: 'perftest -R',
      name: args,
      port,
      server: command,
      client: [...command, address],
      prints: /#bytes/,
    };
  }
}

const noGid = 'qperf connects UC and UD without the connection manager and without a GID, which RoCE needs';

/** @param {string} address @returns {Generator<Case>} */
function* qperf(address) {
  const reliable = words(
    'rc_lat rc_bw rc_bi_bw rc_rdma_read_lat rc_rdma_read_bw rc_rdma_write_lat rc_rdma_write_bw rc_rdma_write_poll_lat ' +
      'rc_compare_swap_mr rc_fetch_add_mr ver_rc_compare_swap ver_rc_fetch_add',
  );
  const others = words('uc_lat uc_bw uc_rdma_write_lat uc_rdma_write_bw ud_lat ud_bw');
  for (const test of [...reliable, ...others]) {
    const port = newPort();
    yield {
      program: 'qperf -cm1',
      name: test,
      port,
      server: words(`qperf -lp ${port}`),
      client: words(`qperf ${address} -lp ${port} -t 1 -cm1 ${test}`),
      stays: true,
      ...(others.includes(test) && { cannot: noGid }),
    };
  }
}
