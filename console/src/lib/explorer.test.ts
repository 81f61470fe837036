import { expect, test } from '@jest/globals';
import { explorerUrl } from './explorer.ts';

const HASH = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW';

test.each([
  ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', `https://explorer.solana.com/tx/${HASH}`],
  ['solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', `https://explorer.solana.com/tx/${HASH}?cluster=devnet`],
  ['solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z', `https://explorer.solana.com/tx/${HASH}?cluster=testnet`],
  ['solana:aLocalChainThatNoExplorerKnows00', null],
  ['', null],
])('a transaction of %s', (network, expected) => {
  expect(explorerUrl(network, HASH)).toBe(expected);
});

test('what is no signature cannot change the address', () => {
  expect(explorerUrl('solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', '../x?y')).toBe(
    'https://explorer.solana.com/tx/..%2Fx%3Fy',
  );
});
