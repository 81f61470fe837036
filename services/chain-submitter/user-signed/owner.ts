import { isAddress, isReserved, ownerKind, PROGRAMS, tokenAccountOf } from '../chain/addresses.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import { type Network, platformAddresses } from '../ledger/model/network.ts';
import { type ChainAccount, ownerInTokenAccount, readTokenAccount } from '../ledger/model/token-account.ts';

const OFF_CURVE =
  'is not on the curve, so no key can sign for it; give the address of a wallet, not of its token account';

const ofTokenProgram = (account: ChainAccount): string => {
  const owner = ownerInTokenAccount(account);
  return owner === null
    ? 'is a mint; give the address of a wallet'
    : `is a token account; give its owner ${owner}`;
};

/**
 * Why an address cannot own a token account, as a text that follows its field's name; null when it
 * can (docs/spec/decisions.md, payout_address). Many program ids are points on the curve, so the
 * account itself is read: it must be absent or owned by the System program.
 * @throws RpcUnavailable
 */
export const findOwnerProblem = async (
  { network, rpc }: { network: Network; rpc: RpcPool },
  address: string,
  { allowOffCurve }: { allowOffCurve: boolean },
): Promise<string | null> => {
  if (!isAddress(address)) return 'must be the base58 text of 32 bytes';
  if (isReserved(address)) return 'is a program or sysvar';
  if (address === network.mint) return 'is the mint';
  if (platformAddresses(network).includes(address)) return 'is an address of the platform';
  const kind = ownerKind(address);
  if (kind === 'nobody') return 'is a key for which anybody can forge signatures';
  const { accounts } = await rpc.accounts([address, tokenAccountOf(address, network.mint)]);
  const [account = null, tokens = null] = accounts;
  if (account !== null) {
    if (account.executable) return 'is a program';
    if (account.owner === PROGRAMS.token) return ofTokenProgram(account);
    if (account.owner !== PROGRAMS.system) return 'is an account of a program; give the address of a wallet';
  }
  // After the account was read, because a token account is off the curve as well.
  if (kind === 'program' && !allowOffCurve) return OFF_CURVE;
  const { state } = readTokenAccount(tokens, { owner: address, mint: network.mint });
  return state === 'foreign' ? 'has a token account that belongs to another owner' : null;
};
