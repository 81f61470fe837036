import {
  ERRORS,
  type ErrorCode,
  type ErrorReference,
  errorDocsUrl,
  MONEY_MOVED,
  SAFE_ACTIONS,
} from './errors.ts';
import type { Json } from './examples.ts';
import { LIMIT_NAMES, WHEN_RENEWED } from './limits.ts';

/** The reference of an error in an example. */
export const exampleReference = (code: ErrorCode): ErrorReference => ({
  request_id: '5b0f0a52-6a53-4b8e-9d2c-6e0c0c1f4f11',
  docs_url: errorDocsUrl('https://api.quittance.example', code),
});

const LIMIT: Json = {
  type: 'object',
  required: ['name', 'asked', 'limit', 'left', 'resets_at'],
  description: 'The limit that refused the payment. Its amounts are in USDC micro-units',
  properties: {
    name: { enum: LIMIT_NAMES, description: 'Which limit. There may be further ones' },
    asked: { $ref: '#/components/schemas/MicroUsdc', description: 'The amount of the payment' },
    limit: { $ref: '#/components/schemas/MicroUsdcOrZero', description: 'The limit itself' },
    left: {
      $ref: '#/components/schemas/MicroUsdcOrZero',
      description: 'What no other payment has used or holds',
    },
    resets_at: {
      anyOf: [{ $ref: '#/components/schemas/Timestamp' }, { type: 'null' }],
      description: `${WHEN_RENEWED}. Null: never`,
    },
  },
};

/** The JSON Schema of every error answer. Its references are components of the OpenAPI document. */
export const errorSchema = (): Json => ({
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      description: 'What is wrong, and what to do',
      required: ['code', 'message', 'request_id', 'docs_url'],
      properties: {
        code: {
          type: 'string',
          enum: Object.keys(ERRORS),
          description: 'What is wrong, for programs. There may be further ones',
        },
        message: { type: 'string', description: 'What is wrong, then what to do. For people' },
        request_id: {
          type: 'string',
          description:
            'Identifies this call in our logs, the same as the header x-request-id. Give it to support',
        },
        docs_url: {
          type: 'string',
          format: 'uri',
          description: 'The page about the code: causes, whether money moved, what to do',
        },
        details: {
          type: 'array',
          description: 'Which fields are wrong',
          items: {
            type: 'object',
            required: ['path', 'message'],
            properties: {
              path: { type: 'string', description: 'The field, as `limits.daily`' },
              message: { type: 'string', description: 'What is wrong with it' },
            },
          },
        },
        money_moved: {
          enum: MONEY_MOVED,
          description:
            'Whether this call, or another call of the account for the same quote, moved money. `no`: the attempt ' +
            'was checked, or the call names none. Nothing was paid and no payment is under way. `unknown`: only a repeat with the same ' +
            'id, or GET /v1/settlements?payment_attempt_id=, shows whether it was paid. It never means "not paid".',
        },
        safe_action: {
          enum: SAFE_ACTIONS,
          description:
            'What to do next without the risk of paying twice. `retry_same_attempt`: correct what `message` names, if it ' +
            'names something, and send it with the same ids. `read_settlement`: the account already has a ' +
            'settlement for this quote or attempt. Read it with GET /v1/settlements/:settlement_id.',
        },
        settlement_id: {
          $ref: '#/components/schemas/SettlementId',
          description:
            'The account’s own settlement of the quote or the attempt. It is never shown to another account.',
        },
        approval_id: {
          $ref: '#/components/schemas/ApprovalId',
          description: 'The approval that the payment needs, or that was denied or has expired',
        },
        limit: LIMIT,
      },
    },
  },
  examples: [{ error: { code: 'not_found', message: 'no such quote', ...exampleReference('not_found') } }],
});

/** The JSON Schema of an error for a caller who accepts `application/problem+json` (RFC 9457). */
export const problemSchema = (): Json => ({
  allOf: [
    {
      type: 'object',
      required: ['type', 'title', 'status', 'detail'],
      properties: {
        type: { type: 'string', format: 'uri', description: 'The same as `error.docs_url`' },
        title: { type: 'string', description: 'What the code means, the same for each occurrence' },
        status: { type: 'integer', description: 'The HTTP status' },
        detail: { type: 'string', description: 'The same as `error.message`' },
      },
    },
    { $ref: '#/components/schemas/Error' },
  ],
});
