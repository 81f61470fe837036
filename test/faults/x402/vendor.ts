import { setTimeout as sleep } from 'node:timers/promises';
import { Keypair } from '@solana/web3.js';
import type { PaymentRequirements } from '@x402/core/types';
import { createVendor as signUp } from '../../../deploy/local/seed/actors.ts';
import { type Api, balancedApi, lostBy, must, patientApi } from '../../../deploy/local/seed/api.ts';
import { signIn } from '../../../deploy/local/seed/sign-in.ts';
import { networkOf } from '../../../deploy/local/stack/networks.ts';
import { instanceName } from '../../../deploy/local/stack/programs.ts';
import type { InteropChain } from '../../support/others/interop-chain.ts';
import { createX402Facilitator } from '../../support/others/x402.ts';
import { refusalIn } from '../../support/rules/refusals.ts';
import { untilShown } from '../checks/shown-once.ts';
import { createFeePayer } from '../fee-payer.ts';
import type { Harness } from '../harness.ts';
import type { Rng } from '../rng.ts';
import {
  type Answer,
  kindOf,
  type Log,
  type Offer,
  type Payment,
  type Service,
  successIn,
  type Vendor,
} from './log.ts';

/** Longer than the gateway repeats a call. */
const TIMEOUT_MS = 90_000;
const AGAIN_MS = 300;
/** A change that faults prevent for so long is given up. */
const CHANGE_MS = 60_000;
const FROZEN_MS = [300, 1500] as const;
/** In hundredths of the vendor's first price. */
const PRICES = [80n, 100n, 120n] as const;

const asksOther = (payment: Payment, { service, requirements }: Offer): boolean => {
  const { payTo, amount } = payment.payload.accepted;
  return service !== payment.offer.service || payTo !== requirements.payTo || amount !== requirements.amount;
};

/** Calls settle at the gateways in turn, and at the other one if a gateway does not listen. */
const createSettle = ({ stack }: Harness, log: Log, today: () => Offer): Vendor['settle'] => {
  const gateways = stack.gateway_urls.map((url, at) => ({ url, name: instanceName('gateway', at + 1) }));
  let turn = 0;
  return async (payment, asking = 'own') => {
    turn += 1;
    const mine = turn;
    const askedAt = Date.now();
    const offer = asking === 'own' ? payment.offer : today();
    const ask = async (tried: number): Promise<Answer> => {
      const { url, name } = gateways[(mine + tried) % gateways.length]!;
      const about = { askedAt, gateway: name };
      const { settle } = createX402Facilitator(url, offer.service.apiKey, { timeoutMs: TIMEOUT_MS });
      try {
        const { status, isJson, body } = await settle(payment.payload, offer.requirements);
        const { errorReason, errorMessage, transaction } = body as Record<string, string | undefined>;
        const moneyMoved = refusalIn(body)?.moneyMoved;
        return {
          ...about,
          at: Date.now(),
          status,
          kind: kindOf(isJson ? body : null, asksOther(payment, offer)),
          reason: isJson ? `${errorReason ?? ''} ${errorMessage ?? ''}`.trim() : `${status} without JSON`,
          transaction: transaction || null,
          success: successIn(body),
          moneyMoved,
        };
      } catch (error) {
        const reason = lostBy(error);
        if (reason === 'ECONNREFUSED' && tried + 1 < gateways.length) return ask(tried + 1);
        return {
          ...{ ...about, at: Date.now(), status: null, kind: 'unknown', reason },
          ...{ transaction: null, success: null, moneyMoved: undefined },
        };
      }
    };
    const answer = await ask(0);
    log.answered(payment, answer);
    return answer;
  };
};

/** Repeats what a fault has stopped. */
const again = async (act: () => Promise<void>): Promise<void> => {
  for (const deadline = Date.now() + CHANGE_MS; ; ) {
    try {
      return await act();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(AGAIN_MS);
    }
  }
};

/** What owner and operator of a vendor change, one at a time. */
const changesOf = (
  { harness, api, chain }: { harness: Harness; api: Api; chain: InteropChain },
  vendor: { email: string; accountId: string; services: Service[]; payouts: Keypair[]; price: bigint },
  set: (offer: { service?: Service; payTo?: string; price?: bigint }) => void,
) => {
  const { email, accountId, services, payouts } = vendor;
  const session = async () => (await signIn(api, harness.stack, email, 'test')).access_token;
  const service = () => services.at(-1)!;
  const setFrozen = async (isFrozen: boolean): Promise<void> => {
    const at = isFrozen ? 'now()' : 'null';
    await harness.query(`update identity.accounts set frozen_at = ${at} where account_id = $1`, [accountId]);
  };
  const newPayout = async (): Promise<void> => {
    const payout = Keypair.generate();
    const payTo = await chain.payee(payout);
    payouts.push(payout);
    const change = { token: await session(), body: { payout_address: payTo } };
    await must(api(`PATCH /v1/services/${service().id}`, change), 'payout address');
    set({ payTo });
  };
  const newKey = async (): Promise<void> => {
    const path = `POST /v1/services/${service().id}/key/rotate` as const;
    const token = await session();
    const { api_key } = await untilShown(() => must(api<{ api_key: string }>(path, { token }), 'rotate'));
    service().apiKey = api_key;
  };
  /** The service closes, and the vendor sells by a new one. */
  const newService = async (): Promise<void> => {
    const token = await session();
    const payout_address = payouts.at(-1)!.publicKey.toBase58();
    const body = { name: 'Weather API', price: '2500000', payout_address };
    const created = await untilShown(() =>
      must(
        api<{ service_id: string; api_key: string }>('POST /v1/services', { token, body }),
        'create service',
      ),
    );
    const next = { id: created.service_id, apiKey: created.api_key };
    await must(
      api(`DELETE /v1/services/${service().id}`, { token, body: { mode: 'close' } }),
      'close service',
    );
    services.push(next);
    set({ service: next, payTo: payout_address });
  };
  return [
    () => again(newPayout),
    () => again(newKey),
    () => again(newService),
    async (rng: Rng): Promise<void> => {
      await again(() => setFrozen(true));
      await sleep(rng.int(...FROZEN_MS));
      await again(() => setFrozen(false));
    },
    async (rng: Rng): Promise<void> => set({ price: (vendor.price * rng.pick(PRICES)) / 100n }),
  ] as const;
};

/** Signs a vendor up. Its fees are paid or not. */
export const createVendor = async (
  harness: Harness,
  log: Log,
  { chain, price, isPaying }: { chain: InteropChain; price: bigint; isPaying: boolean },
): Promise<Vendor> => {
  const { stack } = harness;
  const api = patientApi(balancedApi(stack.gateway_urls));
  const payout = Keypair.generate();
  const payTo = await chain.payee(payout);
  const name = `x402-vendor-${crypto.randomUUID().slice(0, 8)}`;
  const email = `${name}@example.com`;
  const { signIn: session, serviceId, apiKey } = await signUp(api, stack, { payout, email });
  const first: Service = { id: serviceId, apiKey };
  const { kinds } = await createX402Facilitator(stack.gateway_url, apiKey).supported();
  let offer: Offer = {
    service: first,
    requirements: {
      scheme: 'exact',
      network: networkOf('test').caip2 as PaymentRequirements['network'],
      ...{ asset: chain.mint, amount: price.toString(), payTo, maxTimeoutSeconds: 60 },
      extra: { feePayer: kinds[0]!.extra.feePayer },
    },
  };
  const { account_id: accountId } = session.account;
  const services = [first];
  const payouts = [payout];
  const changes = changesOf(
    { harness, api, chain },
    { email, accountId, services, payouts, price },
    ({ service = offer.service, payTo: to = offer.requirements.payTo, price: amount }) => {
      const { requirements } = offer;
      offer = {
        service,
        requirements: { ...requirements, payTo: to, amount: amount?.toString() ?? requirements.amount },
      };
    },
  );
  return {
    ...{ name, accountId, services, payouts },
    offer: () => offer,
    fees: isPaying ? await createFeePayer(harness, email) : null,
    settle: createSettle(harness, log, () => offer),
    change: async (rng) => rng.pick(changes)(rng),
  };
};
