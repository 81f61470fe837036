import path from 'node:path';
import { createConsumer, createDelegate } from '../../../deploy/local/seed/actors.ts';
import { balancedApi, createApi, lostBy, patientApi } from '../../../deploy/local/seed/api.ts';
import { payExternal, reportExternal } from '../../support/actors/outgoing.ts';
import { startInterop } from '../../support/others/interop.ts';
import { interopStack } from '../../support/others/interop-stack.ts';
import { refusalIn } from '../../support/rules/refusals.ts';
import { atOnce } from '../../support/servers/stack.ts';
import type { Harness } from '../harness.ts';
import { type Answer, type Attempt, BEHAVIOURS, type Log, type Payer } from './log.ts';

export const PRICE = 50_000n;
export const BALANCE = 1_000_000_000n;
/** Keys of each account that nothing limits, and one whose limit is used up. */
const LIMITS = (payments: number) => [{}, {}, {}, { total: (PRICE * BigInt(payments)).toString() }];
/** Longer than the gateway repeats a call. */
const TIMEOUT_MS = 30_000;
const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
/** From a few seconds after the signature to after its blockhash has expired. */
const LATE_BLOCKS = [40, 130];

export type Actors = Awaited<ReturnType<typeof createActors>>;

type Options = {
  accounts: number;
  payees: number;
  /** How many payments the limited delegate of each account may make. */
  fitting: number;
};

/** Signs the buyers up and starts the vendors and their facilitator, before the faults begin. */
export const createActors = async (harness: Harness, { accounts, payees, fitting }: Options) => {
  const { stack, stateDir } = harness;
  const { chain } = interopStack(stack, path.resolve(stateDir));
  const api = patientApi(createApi(stack.gateway_url));
  const addresses = await atOnce(payees, () => chain.payee());
  const owners = await atOnce(accounts, () =>
    createConsumer(api, stack, { balance: BALANCE, allowance: BALANCE }),
  );
  const payers = await Promise.all(
    owners.flatMap((owner) =>
      LIMITS(fitting).map(async (limits): Promise<Payer> => {
        const external = { pay_to: 'any', origins: null };
        const { delegate_id, api_key } = await createDelegate(api, owner, limits, { external });
        return {
          accountId: owner.signIn.account.account_id,
          delegateId: delegate_id,
          key: api_key,
          owner: owner.wallet.publicKey.toBase58(),
        };
      }),
    ),
  );
  const { rpcUrl } = chain;
  const facilitator = await startInterop('scripted-facilitator', {
    ...{ rpcUrl, network: NETWORK, secretKey: await chain.feePayer(), lateBlocks: LATE_BLOCKS },
  });
  const urls = BEHAVIOURS.map((behaviour) => [behaviour, `${facilitator.url}/${behaviour}`]);
  const vendors = await startInterop('vendors-express', {
    facilitatorUrls: Object.fromEntries(urls),
    network: NETWORK,
  });
  return {
    payers,
    payees: addresses,
    owners: owners.map(({ wallet }) => wallet.publicKey.toBase58()),
    /** What an attempt pays for. */
    resourceOf: ({ behaviour, payTo }: Pick<Attempt, 'behaviour' | 'payTo'>): string =>
      `${vendors.url}/${behaviour}/${payTo}`,
    stop: async (): Promise<void> => {
      await vendors.stop();
      await facilitator.stop();
    },
  };
};

/** A refusal after which nothing can be paid, whatever happens. */
const FAILED = 'payment_failed';

/** The calls of the buyers, at all gateways in turn. Each answer is logged. */
export const createBuyer = ({ stack }: Harness, log: Log) => {
  const api = balancedApi(stack.gateway_urls, { timeoutMs: TIMEOUT_MS });
  return {
    /** Calls `POST /v1/payments` once. */
    ask: async (attempt: Attempt): Promise<Answer> => {
      const { payer, price, id } = attempt;
      const askedAt = Date.now();
      const unknown = (detail: string): Answer => ({
        ...{
          at: Date.now(),
          kind: 'unknown',
          detail,
          signature: null,
          settlementId: null,
          transaction: null,
        },
      });
      const call = async (): Promise<Answer> => {
        const { status, body } = await payExternal(api, payer.key, price!, id);
        const said = refusalIn(body);
        if (said === null)
          return {
            ...{ at: Date.now(), kind: 'signed', detail: body.status },
            ...{
              signature: body.payment_signature,
              settlementId: body.settlement_id,
              transaction: body.tx_hash,
            },
          };
        const { accountId } = payer;
        log.refusals.push({
          ...{ accountId, attemptId: id, quoteId: id, askedAt, at: Date.now() },
          ...said,
        });
        if (status >= 500) return unknown(said.code);
        const kind = said.code === FAILED ? 'failed' : 'refused';
        return { ...unknown(said.code), kind, settlementId: said.settlementId ?? null };
      };
      const answer = await call().catch((error: unknown) => unknown(lostBy(error)));
      log.answered(attempt, answer);
      return answer;
    },
    /** Passes a receipt on. Its answer decides nothing. */
    report: async ({ payer }: Attempt, settlementId: string, receipt: string): Promise<void> => {
      await reportExternal(api, payer.key, settlementId, receipt).catch(() => {});
    },
  };
};
export type Buyer = ReturnType<typeof createBuyer>;
