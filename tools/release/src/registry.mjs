import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** @import { AddressInfo } from 'node:net' */
/** @import { Tarball } from './pack.mjs' */

/**
 * A registry on this machine that has these packages and no others, so that an installation cannot get anything else.
 * @param {Tarball[]} tarballs
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function serveRegistry(tarballs) {
  const server = createServer(({ url: path = '/' }, response) => {
    const wanted = decodeURIComponent(path.replace(/\?.*/, '').slice(1));
    const archive = tarballs.find(({ manifest }) => wanted === `${manifest.name}/-/${manifest.version}.tgz`);
    const versions = tarballs.filter(({ manifest }) => manifest.name === wanted);
    if (archive !== undefined) {
      response.setHeader('content-type', 'application/octet-stream');
      response.end(readFileSync(archive.path));
    } else if (versions.length > 0) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(document(url(), versions)));
    } else {
      response.statusCode = 404;
      response.end(JSON.stringify({ error: `there is no ${wanted} here` }));
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = () => `http://127.0.0.1:${/** @type {AddressInfo} */ (server.address()).port}`;
  return {
    url: url(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

/**
 * What a registry tells of a package.
 * @param {string} url
 * @param {Tarball[]} versions of one package
 */
function document(url, versions) {
  const latest = versions.at(-1)?.manifest;
  return {
    name: latest?.name,
    'dist-tags': { latest: latest?.version },
    // Package managers may reject what was published lately.
    time: Object.fromEntries(versions.map(({ manifest }) => [manifest.version, '2020-01-01T00:00:00.000Z'])),
    versions: Object.fromEntries(
      versions.map(({ manifest, integrity }) => [
        manifest.version,
        { ...manifest, dist: { integrity, tarball: `${url}/${manifest.name}/-/${manifest.version}.tgz` } },
      ]),
    ),
  };
}
