import { setTimeout as sleep } from 'node:timers/promises';
import { ComputeBudgetProgram, PublicKey } from '@solana/web3.js';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { balancedApi, must, patientApi } from '../../../deploy/local/seed/api.ts';
import { type SignIn, signIn } from '../../../deploy/local/seed/sign-in.ts';
import { networkOf } from '../../../deploy/local/stack/networks.ts';
import { referenceOf } from '../../../services/chain-submitter/ledger/reference.ts';
import { wireTransaction } from '../../support/actors/incoming-buyers.ts';
import type { InteropChain } from '../../support/others/interop-chain.ts';
import { createX402Facilitator } from '../../support/others/x402.ts';
import { untilShown } from '../checks/shown-once.ts';
import type { Harness } from '../harness.ts';
import type { Log } from './log.ts';
import { PUBLIC_URL } from './shop.ts';

/** Token accounts that the platform pays for one account (docs/economics.md). */
const QUOTA = 3;
const AGAIN_MS = 300;
/** A cause that lasts longer than this is given up. */
const TRIES = 30;

type Service = { apiKey: string; payTo: string };

/** The id of the quote in a 402, which everybody can read. */
const quoteIdIn = (text: string): string => {
  const { quote_token } = JSON.parse(text) as { quote_token: string };
  const [claims] = quote_token.split('.');
  return (JSON.parse(Buffer.from(claims!, 'base64url').toString()) as { quote_id: string }).quote_id;
};

/**
 * An attacker who wants to make quotes of the shop unpayable: transactions that our fee payer signs
 * name the reference of a quote before its buyer pays. Everybody can compute the reference from the
 * quote token of a 402.
 */
export const createPoisoner = async (
  harness: Harness,
  log: Log,
  { chain, shopFetch }: { chain: InteropChain; shopFetch: typeof fetch },
) => {
  const { stack } = harness;
  const api = patientApi(balancedApi(stack.gateway_urls));
  const { keypair } = await chain.wallet(1_000_000n);
  let session: SignIn | null = null;
  let left = 0;
  let turn = 0;

  /** A service of the attacker. Every few of them it signs up anew, because of the quota. */
  const createService = async (payTo: string): Promise<Service> => {
    if (session === null || left === 0) {
      session = await signIn(api, stack, `poisoner-${crypto.randomUUID().slice(0, 8)}@example.com`, 'test');
      left = QUOTA;
    }
    left -= 1;
    const { access_token: token } = session;
    const body = { name: 'Anything', price: '50000', payout_address: payTo };
    const { api_key } = await untilShown(() =>
      must(api<{ api_key: string }>('POST /v1/services', { token, body }), 'create service'),
    );
    return { apiKey: api_key, payTo };
  };
  const facilitatorOf = ({ apiKey }: Service) => {
    turn += 1;
    return createX402Facilitator(stack.gateway_urls[turn % stack.gateway_urls.length]!, apiKey);
  };
  const shop = await createService(await chain.payee());
  const { kinds } = await facilitatorOf(shop).supported();
  const { feePayer } = kinds[0]!.extra;

  /** A payment of one micro-unit to the attacker itself, with the reference as a fifth account. */
  const payNaming = async (reference: PublicKey): Promise<void> => {
    const { value } = await harness.rpc<{ value: { blockhash: string } }>('getLatestBlockhash', {
      commitment: 'confirmed',
    });
    const { payTo } = shop;
    const asked = { feePayer, mint: chain.mint, legs: [{ owner: payTo, amount: '1' }], memo: null };
    const transaction = wireTransaction(asked, {
      payer: keypair,
      before: [
        ComputeBudgetProgram.setComputeUnitLimit({ units: 20_000 }),
        ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 }),
      ],
      ...{ blockhash: value.blockhash, reference },
    });
    const accepted: PaymentRequirements = {
      scheme: 'exact',
      network: networkOf('test').caip2 as PaymentRequirements['network'],
      ...{ asset: chain.mint, amount: '1', payTo, maxTimeoutSeconds: 60, extra: { feePayer } },
    };
    const payload = { x402Version: 2, accepted, payload: { transaction } } as PaymentPayload;
    const { isJson, body } = await facilitatorOf(shop).settle(payload);
    const { success, errorReason } = body as { success?: boolean; errorReason?: string };
    log.poisoned.named.push({
      transaction,
      success: success === true,
      reason: isJson ? `${errorReason}` : '',
    });
  };

  /** A service whose payout address is the reference: the platform creates its token account. */
  const nameAsPayout = async (reference: PublicKey): Promise<void> => {
    const service = await createService(reference.toBase58());
    const account = harness.chain.tokenAccount(reference).toBase58();
    for (let tries = 0; tries < TRIES; tries += 1) {
      await facilitatorOf(service).supported();
      const { value } = await harness.rpc<{ value: object | null }>('getAccountInfo', account, {
        ...{ encoding: 'base64', commitment: 'confirmed' },
      });
      if (value !== null) return;
      await sleep(AGAIN_MS);
    }
    throw new Error('the token account of the reference was not created');
  };

  return {
    /**
     * Puts transactions under the reference of the quote that the shop shows at a path. An attack
     * that a fault has stopped is given up.
     */
    poison: async (path: string): Promise<void> => {
      try {
        const response = await shopFetch(`${PUBLIC_URL}${path}`);
        const quoteId = quoteIdIn(await response.text());
        const reference = new PublicKey(referenceOf('test', quoteId));
        // Wallets, and so payout addresses, are points of the curve.
        if (PublicKey.isOnCurve(reference.toBytes())) {
          await nameAsPayout(reference);
          log.poisoned.quotes.add(quoteId);
        } else await payNaming(reference);
      } catch {
        log.poisoned.givenUp += 1;
      }
    },
  };
};
