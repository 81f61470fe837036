import { invalid, notFound } from '../../../shared/contract/errors.ts';
import { type TokenOptions, verifyToken } from '../../../shared/lib/tokens/compact-token.ts';

/**
 * The settlement that a token was issued for, in the scope of its service. A token that equals the
 * stored one is valid even when its signing key was removed since. Any other token is verified, so
 * that the caller learns what is wrong with it.
 * @param row the service's settlement of this id
 * @throws ServiceError validation_error for a foreign token or one of another settlement; not_found
 * without a row
 */
export const checkToken = <R extends { settlement_token: string | null }>(
  {
    settlement_id,
    service_id,
    settlement_token,
  }: { settlement_id: string; service_id: string; settlement_token: string },
  row: R | null,
  options: TokenOptions,
): R => {
  if (row?.settlement_token === settlement_token) return row;
  const claims = verifyToken('settlement', settlement_token, options);
  if (row === null) throw notFound('settlement');
  const isOfRow = claims.settlement_id === settlement_id && claims.service_id === service_id;
  // The token was issued after the backup from which the row was restored. The row's status
  // decides.
  if (isOfRow && row.settlement_token === null) return row;
  throw invalid('settlement_token', 'belongs to another settlement');
};
