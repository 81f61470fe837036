import { invalid, notFound } from '../../../shared/contract/errors.ts';
import { type TokenOptions, verifyToken } from '../../../shared/lib/compact-token.ts';

type Asked = { settlement_id: string; service_id: string; settlement_token: string };

/**
 * The settlement that a token was issued for, as its service shows it. The token that its row keeps is its own whatever has
 * become of the key it was signed with; of any other the caller is told what is wrong.
 * @param row the service's settlement of this id
 * @throws ServiceError validation_error for what is no token of ours or another settlement's, not_found without a row
 */
export const ownSettlement = <R extends { settlement_token: string | null }>(
  { settlement_id, service_id, settlement_token }: Asked,
  row: R | null,
  options: TokenOptions,
): R => {
  if (row?.settlement_token === settlement_token) return row;
  const claims = verifyToken('settlement', settlement_token, options);
  if (row === null) throw notFound('settlement');
  const named = claims.settlement_id === settlement_id && claims.service_id === service_id;
  // Issued, and then restored from a backup of before: its status tells what is to come.
  if (named && row.settlement_token === null) return row;
  throw invalid('settlement_token', 'belongs to another settlement');
};
