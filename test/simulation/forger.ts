import { referenceOf } from '../../services/chain-submitter/ledger/reference.ts';
import { isoTime } from '../../shared/lib/clock.ts';
import { actors } from './actors.ts';
import type { Bus } from './bus.ts';
import type { Chain } from './chain.ts';
import { createExtension, type Quote, signQuote } from './clients.ts';
import type { SettleJob } from './counted-again.ts';
import { EPOCH } from './database.ts';
import { type Harness, require } from './harness.ts';
import type { Random } from './random.ts';

/** Numbers of quotes that nobody settles. */
const FORGED = 4000;

/**
 * A settlement service that was taken over. Its jobs name signed quotes, and capture more than they
 * allow together. The signer trusts no job (rules 7 and 26), so nothing of it is paid.
 */
export const createForger = (harness: Harness, { bus, random }: { bus: Bus; random: Random }) => {
  const references = new Map<string, string>();

  const publish = (quote: Quote, { tokens, captured }: { tokens: string[]; captured: bigint }): void => {
    const { account_id, wallet_id, owner, authority } = actors.payers[quote.payer]!;
    const id = `stl_01h455vb4pex5vsknk08${quote.quoteId.slice(-6)}`;
    const payload: SettleJob = {
      ...{ account_id, payment_attempt_id: `forged.${quote.quoteId}`, settlement_id: id, generation: 0 },
      ...{ accepted_at: isoTime(EPOCH + harness.now()), quote_token: quote.token },
      ...{ capture_amount: String(captured), extension_tokens: tokens },
      payer: { wallet_id, owner, authority },
    };
    references.set(referenceOf('test', quote.quoteId), quote.quoteId);
    harness.trace('forger', `captures ${captured} of ${quote.quoteId} with ${tokens.length} extensions`);
    const row = { outbox_id: 0n, traceparent: null, subject: 'job.chain-submitter.settle' };
    bus.inject({ ...row, msg_id: `forged/${quote.quoteId}`, payload });
  };

  return {
    /** Now and then, with quotes like the one that was just settled. */
    forge: ({ claims, payer }: Quote): void => {
      if (!random.chance(0.5)) return;
      const number = FORGED + 2 * references.size;
      const quote_id = actors.quoteId(number);
      harness.call(quote_id, `Q${number}`);
      const quote = signQuote({ ...claims, quote_id }, { payer, extended: null });
      const addedMicro = BigInt(random.int(1, 3)) * 1_000_000n;
      const extension = createExtension(harness, {
        ...{ number: number + 1, extended: quote, addedMicro, livesMs: 60_000 },
      });
      const beyond = BigInt(random.int(1, 1_000_000));
      const captured = quote.grossMicro + addedMicro + beyond;
      publish(quote, { tokens: [extension.token, extension.token], captured });
    },
    check: (chain: Chain): void => {
      if (references.size === 0) return;
      for (const { payment, error } of chain.all()) {
        const forged = error === null ? references.get(payment.reference ?? '') : undefined;
        require(forged === undefined, 'never more paid than was signed', () => `${forged} was forged`);
      }
    },
  };
};
