import { z } from 'zod';
import { MAX_SPLITS, type OutgoingSplit } from '../../../../shared/contract/chain-submitter.ts';
import { invalid } from '../../../../shared/contract/errors.ts';
import { MAX_MEMO_BYTES, MicroUsdc, SolanaAddress } from '../../../../shared/contract/primitives.ts';
import type { OutgoingChallenge } from '../../../../shared/contract/settlement.ts';
import { parseMicro } from '../../../../shared/lib/money/micro.ts';
import { restOf } from '../../../../shared/lib/money/payees.ts';
import { mppNetworkOf, TOKEN_PROGRAM } from '../../incoming/model/networks.ts';
import { type Asked, isMemo, type OutgoingTerms } from './asked.ts';

const FIELD = 'challenge.request';
const DECIMALS = 6;
/** What vendors mean by the symbol. */
const USDC_MINTS: Readonly<Record<string, string>> = {
  'mainnet-beta': 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  devnet: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
};

/** An empty memo is no memo, as for the clients of MPP. */
const Memo = z
  .string()
  .optional()
  .transform((text) => text || null);

/** The request of a challenge of method `solana`, intent `charge`, as far as it decides here. */
const Charge = z.object({
  amount: MicroUsdc,
  currency: z.string(),
  recipient: SolanaAddress,
  externalId: Memo,
  methodDetails: z.object({
    network: z.string().default('mainnet-beta'),
    decimals: z.number().default(DECIMALS),
    tokenProgram: z.string().default(TOKEN_PROGRAM),
    feePayer: z.boolean().default(false),
    feePayerKey: SolanaAddress.optional(),
    splits: z
      .array(
        z.object({
          recipient: SolanaAddress,
          amount: MicroUsdc,
          memo: Memo,
          ataCreationRequired: z.boolean().default(false),
        }),
      )
      .max(MAX_SPLITS)
      .default([]),
  }),
});
type Charge = z.infer<typeof Charge>;

/** @throws ServiceError validation_error */
const parse = ({ request }: OutgoingChallenge): Charge => {
  try {
    const charge = Charge.safeParse(JSON.parse(Buffer.from(request, 'base64url').toString('utf8')));
    if (charge.success) return charge.data;
    const [issue] = charge.error.issues;
    throw invalid(FIELD, `has an unusable field: ${issue?.path.join('.')} ${issue?.message}`);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw invalid(FIELD, 'must be the base64url of JSON');
  }
};

const require = (met: boolean, message: string): void => {
  if (!met) throw invalid(FIELD, message);
};

/** Checks what the transaction of a charge would be: only USDC, and nothing that a payer pays. */
const checkForm = ({ currency, methodDetails }: Charge, { network, mint }: OutgoingTerms): void => {
  const { network: named, decimals, tokenProgram, feePayer, splits } = methodDetails;
  const ours = mppNetworkOf(network);
  // The specification calls it mainnet, and its packages mainnet-beta.
  require((named === 'mainnet' ? 'mainnet-beta' : named) === ours, `names the network ${named}, not ${ours}`);
  require(currency === mint ||
    (currency === 'USDC' && USDC_MINTS[ours] === mint), `must ask for ${mint}: only USDC is paid`);
  require(decimals === DECIMALS &&
    tokenProgram === TOKEN_PROGRAM, 'has other decimals or another token program than USDC');
  require(feePayer, 'has no feePayer: only a vendor that pays the network’s fee is paid');
  require(splits.every(
    (split) => !split.ataCreationRequired,
  ), 'must create no token account: only existing ones are paid');
};

const checkMemos = (memos: readonly (string | null)[]): void => {
  const texts = memos.filter((memo) => memo !== null);
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  // A transaction has room for nine transfers and so many bytes.
  require(bytes <= MAX_MEMO_BYTES &&
    texts.every(isMemo), `has memos of more than ${MAX_MEMO_BYTES} bytes, or with control characters`);
};

/**
 * What a challenge of MPP asks for. Its fields that decide nothing here are returned to the vendor
 * unchanged.
 * @throws ServiceError validation_error
 */
export const readChallenge = (challenge: OutgoingChallenge, terms: OutgoingTerms): Asked => {
  const charge = parse(challenge);
  checkForm(charge, terms);
  const { amount, recipient, externalId, methodDetails } = charge;
  const { feePayerKey, splits: given } = methodDetails;
  if (feePayerKey === undefined) throw invalid(FIELD, 'has a feePayer without its feePayerKey');
  const splits = given.map(
    ({ recipient: pay_to, amount: part, memo }): OutgoingSplit => ({ pay_to, amount: part, memo }),
  );
  require(restOf({ amount, splits }) > 0n, 'has splits that leave the recipient nothing');
  checkMemos([externalId, ...splits.map(({ memo }) => memo)]);
  return {
    amountMicro: parseMicro(amount),
    payTo: recipient,
    feePayer: feePayerKey,
    memo: externalId,
    splits,
  };
};

/** What the transaction of a stored challenge needs, which was checked when it was accepted. */
export const chargeOf = (challenge: OutgoingChallenge) => {
  const { externalId, methodDetails } = parse(challenge);
  return {
    fee_payer: methodDetails.feePayerKey!,
    memo: externalId,
    splits: methodDetails.splits.map(({ recipient: pay_to, amount, memo }) => ({ pay_to, amount, memo })),
  };
};
