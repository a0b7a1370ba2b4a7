import type { AddressInfo } from 'node:net';
import { createSandboxVendor } from './server.ts';

const graceMs = 2000;
const { SANDBOX_VENDOR_KEY: key, HOST: host = '127.0.0.1', PORT: port = '0' } = process.env;

if (!key) {
  process.stderr.write('sandbox-vendor: SANDBOX_VENDOR_KEY must be set to the key to accept\n');
  process.exit(1);
}

const server = createSandboxVendor({ key });
server.on('error', (error) => {
  process.stderr.write(`sandbox-vendor: ${error.message}\n`);
  process.exit(1);
});
server.listen(Number(port), host, () => {
  const { port: bound } = server.address() as AddressInfo;
  process.stdout.write(`sandbox-vendor listens on http://${host}:${bound}\n`);
});

const stop = () => {
  server.close();
  // An answer that hangs or trickles would keep the process for ever.
  setTimeout(() => server.closeAllConnections(), graceMs).unref();
};
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
