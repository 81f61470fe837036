import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { invalid, ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { assemble } from '../../../shared/lib/chain/wire-transaction.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import { tokenAccountOf } from '../chain/addresses.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { TokenAccounts } from '../chain/token-accounts.ts';
import type { Network } from '../ledger/model/network.ts';
import { compileMessage } from '../transactions/compile-message.ts';
import { computeBudget } from '../transactions/instructions/compute-budget.ts';
import { memo as memoInstruction } from '../transactions/instructions/memo.ts';
import { transferChecked } from '../transactions/instructions/transfer-checked.ts';
import { findOwnerProblem } from '../user-signed/owner.ts';

type Deps = {
  network: Network;
  rpc: RpcPool;
  tokenAccounts: Pick<TokenAccounts, 'get'>;
};

/** As the page of a 402 builds it (console/src/wallet/payment-transaction.ts). */
const BUDGET = { units: 60_000, microLamports: 1n };

const tooLittle = (message: string): ServiceError =>
  new ServiceError('insufficient_funds', message, { money_moved: 'no', safe_action: 'top_up' });

/** @throws ServiceError unless a wallet can sign for the account, and has enough */
const checkPayer = async (deps: Deps, payer: string, amountMicro: bigint): Promise<void> => {
  const [problem, { account }] = await Promise.all([
    readForCaller(findOwnerProblem(deps, payer, { allowOffCurve: false })),
    readForCaller(deps.tokenAccounts.get(payer)),
  ]);
  if (problem !== null) throw invalid('account', problem);
  if (account.state !== 'ready' || account.frozen)
    throw tooLittle('this account has no USDC that it can pay with; use another account');
  if (account.balanceMicro < amountMicro) throw tooLittle('this account has not enough USDC');
};

/**
 * The transaction by which a wallet pays that signs last. It has the form that the policy for
 * payments of other clients accepts, which reads it by other code. Its message is a legacy one,
 * because wallets of Solana Pay read no other.
 */
export const buildIncoming =
  (deps: Deps): Handler<typeof chainSubmitter.internal.buildIncoming> =>
  async ({ payer, payee, amount, memo }) => {
    const { mint, feePayers } = deps.network;
    const amountMicro = parseMicro(amount);
    const [{ blockhash }] = await Promise.all([
      // The provider of the wallet knows a blockhash that is finalized.
      readForCaller(deps.rpc.latestBlockhash('finalized')),
      checkPayer(deps, payer, amountMicro),
    ]);
    const [source, destination] = [tokenAccountOf(payer, mint), tokenAccountOf(payee, mint)];
    if (source === destination) throw invalid('account', 'is the account that is paid');
    const message = compileMessage(
      [
        ...computeBudget(BUDGET),
        transferChecked({ source, mint, destination, authority: payer, amountMicro }),
        memoInstruction(memo),
      ],
      { feePayer: feePayers[0]!, blockhash },
    );
    return { transaction: assemble(message, [null, null]).toString('base64') };
  };
