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

/** More than the buffers on its way hold, and how long it waits for a reader of it. */
const LONG = 120_000_000;
const CHUNK = Buffer.alloc(64_000, 'a');
const GIVES_UP_MS = 1500;

/** Serves a long answer, and gives up if nobody takes it. */
const serveLong = (url, response) => {
  response.writeHead(200, { 'content-length': LONG, 'x-price': price });
  let sent = 0;
  let timer;
  response.once('close', () => clearTimeout(timer));
  const write = () => {
    clearTimeout(timer);
    while (sent < LONG) {
      sent += CHUNK.length;
      if (response.write(CHUNK)) continue;
      timer = setTimeout(() => {
        response.destroy();
        void at(url, 'gave up', null);
      }, GIVES_UP_MS);
      return void response.once('drain', write);
    }
    response.end();
  };
  write();
};

const serve = async ({ url, headers }, response) => {
  const delivery = headers['quittance-delivery'] ?? null;
  await at(url, 'asked', delivery);
  if (url.includes('long')) return serveLong(url, response);
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
