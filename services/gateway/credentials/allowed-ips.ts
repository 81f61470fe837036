import { BlockList, isIP } from 'node:net';

const familyOf = (text: string): 'ipv4' | 'ipv6' => (isIP(text) === 6 ? 'ipv6' : 'ipv4');

/** Parsed once for each record of a key, which is cached. */
const parsed = new WeakMap<readonly string[], BlockList>();

const listOf = (blocks: readonly string[]): BlockList => {
  const known = parsed.get(blocks);
  if (known !== undefined) return known;
  const list = new BlockList();
  for (const block of blocks) {
    const [network, bits] = block.split('/') as [string, string | undefined];
    if (bits === undefined) list.addAddress(network, familyOf(network));
    else list.addSubnet(network, Number(bits), familyOf(network));
  }
  parsed.set(blocks, list);
  return list;
};

/**
 * Whether a key may be used from an address.
 * @param blocks addresses and CIDR blocks, which the contract has validated; undefined: any
 * @param address in its normal form. What is no address is in no block
 */
export const isAllowedFrom = (blocks: readonly string[] | undefined, address: string): boolean =>
  blocks === undefined || (isIP(address) !== 0 && listOf(blocks).check(address, familyOf(address)));
