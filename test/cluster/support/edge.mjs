// Runs in the pod `edge`: a TCP proxy. `kubectl port-forward` binds to one pod of a Service, so a
// forwarded client would lose its connection with that pod. This program opens a connection to the
// Service for each connection that it accepts.
// ROUTES: `3000=gateway:3000,8899=chain:8899`, port=host:port.
import net from 'node:net';

for (const route of process.env.ROUTES.split(',')) {
  const [own, host, port] = route.split(/[=:]/);
  net
    .createServer({ allowHalfOpen: true }, (client) => {
      const server = net.connect({ host, port: Number(port), allowHalfOpen: true, noDelay: true });
      client.pipe(server).pipe(client);
      client.on('error', () => server.destroy());
      // The client's side ends without an error, because kubectl ends the whole forwarding after
      // one.
      server.on('error', () => client.end());
      server.on('close', () => client.end());
    })
    .listen(Number(own), '0.0.0.0');
}
process.once('SIGTERM', () => process.exit());
