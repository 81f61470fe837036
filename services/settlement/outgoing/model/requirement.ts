import { invalid } from '../../../../shared/contract/errors.ts';
import { MAX_MEMO_BYTES } from '../../../../shared/contract/primitives.ts';
import type { OutgoingRequirement } from '../../../../shared/contract/settlement.ts';
import { parseMicro } from '../../../../shared/lib/money/micro.ts';
import { v1NetworkOf } from '../../incoming/model/networks.ts';
import { type Asked, isMemo, type OutgoingTerms } from './asked.ts';

const FIELD = 'requirement';

/** Version 2 names the price `amount`, version 1 `maxAmountRequired`. */
const amountOf = (requirement: OutgoingRequirement, version: 1 | 2): bigint => {
  const name = version === 2 ? 'amount' : 'maxAmountRequired';
  const text = requirement[name];
  if (text === undefined)
    throw invalid(`${FIELD}.${name}`, `is missing: version ${version} of x402 names the price by it`);
  return parseMicro(text);
};

/** What an entry of `accepts` of x402 asks for. @throws ServiceError validation_error */
export const readRequirement = (
  requirement: OutgoingRequirement,
  version: 1 | 2,
  { network, mint }: OutgoingTerms,
): Asked => {
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
  const memo = requirement.extra.memo ?? null;
  if (memo !== null && !isMemo(memo))
    throw invalid(
      `${FIELD}.extra.memo`,
      `must be text of at most ${MAX_MEMO_BYTES} bytes without control characters`,
    );
  return {
    amountMicro: amountOf(requirement, version),
    payTo: requirement.payTo,
    feePayer: requirement.extra.feePayer,
    memo,
  };
};
