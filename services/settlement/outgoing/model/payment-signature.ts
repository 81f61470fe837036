type Paid = {
  /** The version of x402. Null for MPP. */
  version: number | null;
  /** What the vendor asked for with all its fields, as it was stored. */
  requirement: { scheme?: string; network?: string; [field: string]: unknown };
  resource: string;
  /** Base64 of the transaction, without the fee payer's signature. */
  transaction: string;
};

/**
 * The value of the header that presents a payment: base64 of the payload of x402, or the credential
 * of MPP with its scheme. The same payment always has the same value.
 */
export const paymentSignature = ({ version, requirement, resource, transaction }: Paid): string => {
  if (version === null) {
    const credential = { challenge: requirement, payload: { type: 'transaction', transaction } };
    return `Payment ${Buffer.from(JSON.stringify(credential)).toString('base64url')}`;
  }
  const payload =
    version === 2
      ? { x402Version: 2, resource: { url: resource }, accepted: requirement, payload: { transaction } }
      : {
          x402Version: 1,
          scheme: requirement.scheme,
          network: requirement.network,
          payload: { transaction },
        };
  return Buffer.from(JSON.stringify(payload)).toString('base64');
};
