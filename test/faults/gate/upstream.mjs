// The API behind the gate of a campaign, as a process that can be killed. It tells its parent of
// each step of a request, and goes on when the parent says so. Its goods follow from the path.
import { createServer } from 'node:http';
import { goodsOf } from './goods.mjs';

const [, , port, price] = process.argv;
const waiting = new Map();
let asked = 0;

/** Waits at a step until the parent has done what it wants to do there. */
const at = (path, step, delivery) =>
  new Promise((resolve) => {
    asked += 1;
    waiting.set(asked, resolve);
    process.send({ id: asked, path, step, delivery });
  });
process.on('message', ({ id }) => {
  waiting.get(id)?.();
  waiting.delete(id);
});
process.on('disconnect', () => process.exit(0));

const serve = async ({ url, headers }, response) => {
  const delivery = headers['quittance-delivery'] ?? null;
  await at(url, 'asked', delivery);
  const goods = goodsOf(url);
  await at(url, 'working', delivery);
  response.writeHead(200, { 'content-length': goods.length, 'x-price': price });
  response.write(goods.subarray(0, goods.length / 2));
  await at(url, 'first byte', delivery);
  response.end(goods.subarray(goods.length / 2));
  response.once('close', () => void at(url, 'last byte', delivery));
};

const server = createServer((request, response) => void serve(request, response));
server.listen(Number(port), '127.0.0.1', () => process.send({ ready: true }));
