import type { z } from 'zod';
import { invalid } from '../../../../shared/contract/errors.ts';
import { MAX_MEMO_BYTES } from '../../../../shared/contract/primitives.ts';
import type { settlement } from '../../../../shared/contract/settlement.ts';
import { parseMicro } from '../../../../shared/lib/micro.ts';
import { v1NetworkOf } from '../../incoming/model/networks.ts';

type Input = z.infer<typeof settlement.operations.payExternal.body>;
type Requirement = Input['requirement'];

/** What a vendor's 402 asks for, checked against this environment. */
export type OutgoingOrder = {
  version: 1 | 2;
  requirement: Requirement;
  resource: string;
  /** Host and origin of the resource. */
  host: string;
  origin: string;
  amountMicro: bigint;
  payTo: string;
  feePayer: string;
  /** The memo that the vendor requires. Null: any. */
  memo: string | null;
};

type OutgoingTerms = {
  /** CAIP-2 id, of version 2. */
  network: string;
  mint: string;
};

const FIELD = 'requirement';

/** Version 2 names the price `amount`, version 1 `maxAmountRequired`. */
const amountOf = (requirement: Requirement, version: 1 | 2): bigint => {
  const name = version === 2 ? 'amount' : 'maxAmountRequired';
  const text = requirement[name];
  if (text === undefined)
    throw invalid(`${FIELD}.${name}`, `is missing: version ${version} of x402 names the price by it`);
  return parseMicro(text);
};

/** The memo that the vendor requires, or null. */
export const memoOf = ({ extra: { memo } }: Requirement): string | null => memo ?? null;

/**
 * Checks what a vendor asks for before anything is stored (docs/design/interop.md, section 6).
 * Fields that this system does not know are left as they are, because the payload repeats them.
 * @throws ServiceError validation_error
 */
export const readRequirement = (
  { requirement, resource, x402_version: version = 2 }: Input,
  { network, mint }: OutgoingTerms,
): OutgoingOrder => {
  if (requirement.scheme !== 'exact')
    throw invalid(`${FIELD}.scheme`, 'must be exact: only payments of an exact amount are signed');
  const ours = version === 2 ? network : v1NetworkOf(network);
  if (ours === null || requirement.network !== ours)
    throw invalid(
      `${FIELD}.network`,
      ours === null
        ? 'has no name in version 1 of x402: ask the vendor for version 2'
        : `must be ${ours}, the network of this environment`,
    );
  if (requirement.asset !== mint)
    throw invalid(`${FIELD}.asset`, `must be ${mint}: only USDC of this network is paid`);
  const memo = memoOf(requirement);
  // chain-submitter stores it as jsonb, which has no NUL and no half of a surrogate pair.
  if (memo !== null && (Buffer.byteLength(memo) > MAX_MEMO_BYTES || /[\p{Cc}\p{Cs}]/u.test(memo)))
    throw invalid(
      `${FIELD}.extra.memo`,
      `must be text of at most ${MAX_MEMO_BYTES} bytes without control characters`,
    );
  const { host, origin } = new URL(resource);
  return {
    version,
    requirement,
    resource,
    host,
    origin,
    amountMicro: amountOf(requirement, version),
    payTo: requirement.payTo,
    feePayer: requirement.extra.feePayer,
    memo,
  };
};
