import { useEffect, useState } from 'react';
import { session } from '../session/store.ts';
import { Loading, Stack } from '../ui/layout.tsx';
import { Notice } from '../ui/notice.tsx';
import { QrCode } from '../ui/qr.tsx';
import { useAskedAgain } from './asked-again.ts';
import type { LinkAddress } from './link.ts';
import type { Confirmed } from './link-payment.ts';
import { codeOf } from './phone.ts';
import { keptSecret, secretOf } from './secret.ts';
import { TEXTS } from './texts.ts';

type State = 'waiting' | 'pending' | 'failed';

/**
 * The code of this tab, and what became of it. It is asked about after a reload too, because a
 * phone may have scanned it.
 * @param conclude returns what is to be done with a payment that the API calls confirmed
 */
export const usePhone = (
  link: LinkAddress,
  isOffered: boolean,
  conclude: (paid: Confirmed) => Promise<(() => void) | null>,
) => {
  const [secret, setSecret] = useState(() => (isOffered ? keptSecret(link) : null));
  const [state, setState] = useState<State>('waiting');
  useAskedAgain(secret, async () => {
    const { environment, paymentLinkId: payment_link_id } = link;
    const asked = { environment, payment_link_id, secret: secret! };
    const now = await session
      .get()
      .client.settlement.followPhonePayment(asked)
      .catch(() => null);
    if (now?.status === 'confirmed') {
      setState('pending');
      return conclude({ settlementId: now.settlement_id, receiptUrl: now.receipt_url });
    }
    if (now !== null) setState(now.status);
    return null;
  });
  return { secret, state, show: () => setSecret(secretOf(link)) };
};

type Props = { link: LinkAddress; origin: string; phone: ReturnType<typeof usePhone> };

/** The code that the wallet of a phone scans. */
export const ByPhone = ({ link, origin, phone: { secret, state, show } }: Props) => {
  const [code, setCode] = useState<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: of one secret
  useEffect(() => {
    if (secret === null) show();
    else void codeOf(link, secret, origin).then(setCode);
  }, [secret]);
  return (
    <Stack>
      <p>{TEXTS.phoneWallet}</p>
      {code === null ? <Loading>{TEXTS.reading}</Loading> : <QrCode text={code} label={TEXTS.phone} />}
      {state === 'failed' && <Notice tone="bad">{TEXTS.phoneFailed}</Notice>}
    </Stack>
  );
};
