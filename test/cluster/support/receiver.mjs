// Runs in the pod `receiver`: answers each webhook with 200, and prints its path and its id.
import http from 'node:http';

http
  .createServer((request, response) => {
    request.resume().on('end', () => {
      console.log(`${request.url} ${request.headers['webhook-id']}`);
      response.end();
    });
  })
  .listen(Number(process.env.PORT), '0.0.0.0');
process.once('SIGTERM', () => process.exit());
