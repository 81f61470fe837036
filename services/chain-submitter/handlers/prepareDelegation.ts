import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { parseMicro } from '../../../shared/lib/micro.ts';
import { tokenAccountOf } from '../addresses.ts';
import type { Deps } from '../deps.ts';
import type { DelegationOrder } from '../domain/order.ts';
import { checkPolicy, signersOf } from '../policy.ts';
import { allowCreation } from '../quota.ts';
import { reading, refuseAddress } from '../reading.ts';
import { replacePreparation } from '../store/preparations.ts';
import { delegation } from '../transactions/delegation.ts';
import { assemble, compileMessage } from '../wire.ts';

/** Nominal slot time, to turn remaining blocks into a time for people. What counts is the block height. */
const SLOT_MS = 400;

/** Whether the approval has to create the token account. */
const creates = async (deps: Deps, order: DelegationOrder): Promise<boolean> => {
  const { account } = await reading(deps.chain.tokenAccount(order.owner));
  if (account.state === 'ready') return false;
  if (account.state === 'foreign')
    throw new ServiceError('conflict', 'the token account is not the wallet’s any more');
  if (order.allowanceMicro === null)
    throw new ServiceError('conflict', 'the wallet has no token account, so nothing to revoke');
  const allowed = await reading(allowCreation(deps, order.accountId, order.owner));
  if (allowed === 'refused') {
    throw new ServiceError(
      'conflict',
      'the wallet has no USDC token account and the quota of accounts that the platform pays for is used up; create the token account first',
    );
  }
  return allowed === 'granted';
};

/**
 * The approve or revoke transaction, for the owner to sign first: every signature slot is empty, the fee payer's
 * too. It replaces what was prepared for this wallet and not submitted.
 */
export const prepareDelegation =
  (deps: Deps): Handler<typeof chainSubmitter.internal.prepareDelegation> =>
  async ({ preparation_id, account_id, owner, authority, allowance }) => {
    const { network, chain, clock, pool } = deps;
    if (!network.delegateAuthorities.includes(authority))
      throw refuseAddress('authority', 'is not served here');
    if (owner === network.feePayer || network.delegateAuthorities.includes(owner))
      throw refuseAddress('owner', 'is an address of the platform');
    const order: DelegationOrder = {
      kind: 'delegation',
      accountId: account_id,
      owner,
      tokenAccount: tokenAccountOf(owner, network.mint),
      authority,
      allowanceMicro: allowance === null ? null : parseMicro(allowance),
    };
    const create = await creates(deps, order);
    // Never a kept blockhash: the person who signs needs all of its life.
    chain.forgetBlockhash();
    const [latest, height] = await reading(
      Promise.all([chain.blockhash(), deps.rpc.first((provider) => provider.blockHeight('confirmed'))]),
    );
    const message = compileMessage(delegation(order, network, { create }), {
      feePayer: network.feePayer,
      blockhash: latest.blockhash,
    });
    checkPolicy(message, order, network);
    const expiresAt = clock() + Math.max(0, latest.lastValidBlockHeight - height) * SLOT_MS;
    const written = await replacePreparation(pool, {
      preparation_id,
      account_id,
      owner,
      token_account: order.tokenAccount,
      authority,
      allowance: order.allowanceMicro,
      message: Buffer.from(message),
      creates: create,
      last_valid_block_height: BigInt(latest.lastValidBlockHeight),
      expires_at: expiresAt,
    });
    if (!written) throw new ServiceError('conflict', 'this preparation was submitted already');
    const empty = signersOf(order, network).map(() => null);
    return { transaction: assemble(message, empty).toString('base64'), expires_at: isoTime(expiresAt) };
  };
