import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import { connectTo } from './chain-connection.ts';

test('a call fails when the chain closes its connection', async () => {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    await expect(connectTo(`http://127.0.0.1:${port}`).getSlot()).rejects.toThrow('the chain did not answer');
  } finally {
    server.close();
  }
});
