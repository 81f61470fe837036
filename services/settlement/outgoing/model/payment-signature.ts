type Paid = {
  version: 1 | 2;
  /** The vendor's requirement with all its fields, as it was stored. */
  requirement: { scheme: string; network: string };
  resource: string;
  /** Base64 of the transaction, without the fee payer's signature. */
  transaction: string;
};

/**
 * The value of the header that presents a payment: base64 of the payload of x402. The same payment
 * always has the same value.
 */
export const paymentSignature = ({ version, requirement, resource, transaction }: Paid): string => {
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
