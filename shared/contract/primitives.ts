import { z } from 'zod';
import { parseUtcTime, UTC_TIME } from './utc-time.ts';

/**
 * The scalar shapes of the wire. No shape transforms its value: a request is validated and never
 * coerced, and every hop sees what the caller sent. Domain code converts amounts to bigint
 * (shared/lib/money/micro.ts).
 */

const MAX_INT64 = 2n ** 63n - 1n;

/**
 * USDC micro-units as decimal digits, 1 to 2^63-1: no sign, no leading zero
 * (docs/spec/decisions.md, Shapes).
 */
export const MicroUsdc = z
  .string()
  // Before the form, which such a number would seem to break.
  .refine((digits) => !/^[1-9][0-9]{19,}$/.test(digits), {
    error: 'is too large: must be at most 9223372036854775807',
    abort: true,
  })
  // `abort` keeps other text from the bound below, where BigInt would throw.
  .regex(/^[1-9][0-9]{0,18}$/, {
    error:
      'must be USDC micro-units: digits without sign, point or leading zero, for example "50000" for 0.05 USDC',
    abort: true,
  })
  .refine(
    (digits) => digits.length < 19 || BigInt(digits) <= MAX_INT64,
    'is too large: must be at most 9223372036854775807',
  )
  .meta({
    id: 'MicroUsdc',
    description: 'USDC micro-units (1 USDC = 1,000,000) as decimal digits',
    examples: ['2500000'],
  });

/** An amount in an answer that can be zero. */
export const MicroUsdcOrZero = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,18})$/)
  .meta({
    id: 'MicroUsdcOrZero',
    description: 'USDC micro-units as decimal digits, zero included',
    examples: ['0'],
  });

/** ISO 8601 in UTC with milliseconds. */
export const Timestamp = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/)
  .meta({
    id: 'Timestamp',
    description: 'ISO 8601, UTC',
    format: 'date-time',
    examples: ['2026-11-21T10:00:00.000Z'],
  });

/** A time that ends in no zone, or in one that is not UTC. */
const LOCAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d[\d:.,]*([+-][\d:]+)?$/i;

/**
 * A time in a request. The shape alone would accept 30 February, and the year 0, which Postgres
 * rejects. Handlers read it with `parseUtcTime`.
 */
export const Moment = z
  .string()
  .regex(UTC_TIME, {
    error: ({ input }) =>
      LOCAL_TIME.test(String(input)) ? 'must be in UTC: end it with Z or +00:00' : undefined,
    abort: true,
  })
  .refine((text) => parseUtcTime(text) >= 0, 'must be a time that exists, not before 1970')
  .meta({
    id: 'Moment',
    description: 'ISO 8601, UTC',
    format: 'date-time',
    examples: ['2026-11-21T10:00:00.000Z'],
  });

/** `WebhookEndpointId` as text: "webhook endpoint". */
const wordsOf = (name: string): string =>
  name
    .replace(/Id$/, '')
    .replace(/(?!^)[A-Z]/g, ' $&')
    .toLowerCase();

/** An id of ours: prefix + UUIDv7 in base32. */
export const typeId = (prefix: string, name: string) =>
  z
    .string()
    .regex(new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`), `must be an id that begins with ${prefix}_`)
    .meta({
      id: name,
      description: `Id of the ${wordsOf(name)}, beginning with ${prefix}_ (TypeID: UUIDv7 in base32)`,
      examples: [`${prefix}_01kaj5w0c0e8h9x2m4n6p8q0rs`],
    });

export const QuoteId = typeId('q', 'QuoteId');
export const PaymentLinkId = typeId('pl', 'PaymentLinkId');
export const SettlementId = typeId('stl', 'SettlementId');
export const ExtensionId = typeId('ext', 'ExtensionId');
export const AccountId = typeId('acct', 'AccountId');
export const WalletId = typeId('wal', 'WalletId');
export const WithdrawalId = typeId('wd', 'WithdrawalId');
export const RefundId = typeId('ref', 'RefundId');
export const DelegateId = typeId('del', 'DelegateId');
export const DepositId = typeId('dep', 'DepositId');
export const EventId = typeId('evt', 'EventId');
export const EndpointId = typeId('whe', 'EndpointId');
/** A plain UUID without a prefix, as docs/spec/interface.md defines it. */
export const ServiceId = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, 'must be a UUID in lower case')
  .meta({
    id: 'ServiceId',
    description: 'Id of the vendor’s service, a UUID',
    examples: ['0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17'],
  });

/**
 * Base58 text of 32 bytes: a wallet or token account. Code that needs a point on the curve checks
 * it separately.
 */
export const SolanaAddress = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'must be a base58 address')
  .meta({
    id: 'SolanaAddress',
    description: 'Base58 address',
    examples: ['Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u'],
  });

export const Blockhash = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)
  .meta({
    id: 'Blockhash',
    description: 'Base58 hash of a recent block, which dates a transaction',
    examples: ['EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N'],
  });

export const TransactionHash = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/)
  .meta({
    id: 'TransactionHash',
    description: 'Base58 signature of the transaction on chain',
    examples: ['5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW'],
  });

/** Longest memo of a payment of x402 or MPP. */
export const MAX_MEMO_BYTES = 256;

/** SHA-256 of the bytes of a transaction's message, in lower-case hexadecimal. */
export const MessageHash = z.string().regex(/^[0-9a-f]{64}$/);

/** A Solana wire transaction has at most 1232 bytes, which are 1644 base64 characters. */
export const WireTransaction = z
  .string()
  .max(1644)
  .regex(/^[A-Za-z0-9+/]+={0,2}$/, 'must be base64')
  .meta({
    id: 'WireTransaction',
    description: 'Base64 of a Solana wire transaction',
    examples: ['AQAAAAAAAAAAAAAAAAAAAA=='],
  });

const THIRTY_TWO_BYTES = /^[A-Za-z0-9_-]{43}$/;
/** The hash of a page's secret and link. Whoever sees the code of a page knows no more. */
export const PageHandle = z
  .string()
  .regex(THIRTY_TWO_BYTES, 'must be the base64url text of 32 bytes')
  .meta({
    id: 'PageHandle',
    description:
      'The SHA-256 of the payment link’s id, a dot and the secret of the page that shows the code, base64url',
    examples: ['47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU'],
  });
/** What a page of a payment link alone has. Only whoever has it learns what the page has paid. */
export const PageSecret = z
  .string()
  .regex(THIRTY_TWO_BYTES, 'must be the base64url text of 32 bytes')
  .meta({
    id: 'PageSecret',
    description: 'What the page alone knows: 32 random bytes, base64url',
    examples: ['AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8'],
  });
/** `base64url(payload).base64url(signature)`, Ed25519. */
export const CompactToken = z
  .string()
  .max(16384)
  .regex(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/, 'must be a compact signed token')
  .meta({
    id: 'CompactToken',
    description: 'base64url(payload).base64url(signature), Ed25519',
    examples: ['eyJ2IjoxfQ.c2lnbmF0dXJl'],
  });

export const PaymentAttemptId = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,128}$/, 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : -')
  .meta({
    id: 'PaymentAttemptId',
    description: 'Chosen by the client, unique per payment attempt. It is the idempotency key of settle',
    examples: ['order-1042-1'],
  });

export const Environment = z
  .enum(['test', 'live'])
  .meta({ id: 'Environment', description: 'test or live. Each is a separate deployment' });
export type Environment = z.infer<typeof Environment>;

export const Currency = z.literal('USDC').meta({ id: 'Currency', description: 'Always USDC' });

/**
 * Free text that is shown to people. Control characters and line separators are refused, because
 * they could forge a line in a mail or a log. Characters that reorder text or are invisible (bidi
 * controls, zero widths, tags, fillers) are refused, because two names could then look alike. ZWNJ,
 * ZWJ and variation selectors are allowed, because Persian, Indic scripts and emoji need them. Tags
 * are allowed in the flag of a region alone: a black flag, the letters of the region, and an end.
 * At least one character must be visible.
 */
export const label = (max: number, example = 'Weather API') =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(
      /^(?=.*[\p{L}\p{N}\p{P}\p{S}])(?:[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|[\u200c\u200d]|(?<=\u{1f3f4})[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f})+$/u,
      'must be visible text without control or invisible characters',
    )
    .meta({ examples: [example] });

/**
 * The input of an operation with `rawBody`: the bytes of the request's body as base64, and its
 * headers with lower-case names, without those that may hold a credential. The values of a repeated
 * header are joined by ", ".
 */
export const RawBody = z.strictObject({
  raw_body: z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/),
  raw_headers: z.record(z.string(), z.string()),
});
export type RawBody = z.infer<typeof RawBody>;

/** Fields that several objects share. */
export const createdAt = Timestamp.describe('When it was created');
export const confirmedAtOrNull = Timestamp.nullable().describe(
  'When the payment was first seen confirmed on chain: its time in the books. Null: not yet',
);
export const quoteAmount = MicroUsdc.describe('What the payer pays');
export const feeAmount = MicroUsdcOrZero.meta({
  description: 'What the platform gets of it',
  examples: ['12500'],
});
export const netAmount = MicroUsdc.meta({
  description: 'What the vendor gets of it',
  examples: ['2487500'],
});
export const txHashOrNull = TransactionHash.nullable().describe(
  'The transaction on chain. Null until it is seen there',
);
export const failureOrNull = z
  .strictObject({
    code: z.string().describe('Why it failed, for programs'),
    message: z.string().describe('Why it failed, for people'),
  })
  .meta({ id: 'Failure' })
  .nullable()
  .meta({ description: 'Why it failed. Null: it has not failed', examples: [null] });

/** Query parameters of every list endpoint. `limit` is text (1 to 100, default 20). */
export const pageQuery = {
  cursor: z
    .string()
    .max(512)
    .optional()
    .meta({ description: '`next_cursor` of the previous page. Without it: the first page' }),
  limit: z
    .string()
    .regex(/^([1-9][0-9]?|100)$/, 'must be 1 to 100')
    .optional()
    .meta({
      description:
        'Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer',
      examples: ['20'],
    }),
};

const nextCursor = z
  .string()
  .nullable()
  .meta({
    id: 'NextCursor',
    description: '`cursor` of the next page. Null: this page is the last',
    examples: [null],
  });

/** The shape of every list answer, newest first. Its id is derived from that of its items. */
export const page = <T extends z.ZodType>(item: T) =>
  z
    .strictObject({
      data: z.array(item).describe('The items of this page, newest first'),
      next_cursor: nextCursor,
    })
    .meta({ id: `${item.meta()?.id}Page` });

/** The body of a call that submits a prepared transaction. */
export const signedTransaction = z
  .strictObject({
    transaction: WireTransaction.optional().meta({
      description: 'Signed by the owner. Omit it to have a transaction prepared again',
    }),
  })
  .meta({ id: 'SignedTransactionRequest' });
