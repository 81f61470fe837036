import { useEffect, useState } from 'react';
import { displayUsdc } from '../../../../sdk/src/generated/usdc.ts';
import { session } from '../../api/store.ts';
import { LinkOut } from '../../ui/button.tsx';
import { Loading, Row, Section, Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/notice.tsx';
import { QrCode } from '../../ui/qr.tsx';
import { useAskedAgain } from '../asked-again.ts';
import type { LinkAddress } from '../link.ts';
import type { Confirmed } from '../link-payment.ts';
import type { Payable } from '../payable.ts';
import { secretOf } from '../secret.ts';
import { TEXTS } from '../texts.ts';
import { Install } from './install.tsx';
import { codeOf, type Phone, type PhoneState } from './phone.ts';
import { WALLET_APPS } from './wallet-apps.ts';

/** Nothing has been asked for most of the time. A payment under way is followed more closely. */
const ASK_MS: Record<PhoneState, number> = { waiting: 4000, pending: 2000, failed: 4000 };

/**
 * The code of this tab for the wallet of a phone. It is asked about after a reload too, because a
 * phone may have scanned it.
 * @param isOffered false for a link for one payment, whose code would hold it closed
 * @param origin of the API, as the signed quote names it
 * @param conclude returns what is to be done with a payment that the API calls confirmed
 */
export const usePhone = (
  link: LinkAddress,
  { isOffered, origin }: { isOffered: boolean; origin: string },
  conclude: (paid: Confirmed) => Promise<(() => void) | null>,
): Phone => {
  const [secret] = useState(() => (isOffered ? secretOf(link) : null));
  const [code, setCode] = useState<string | null>(null);
  const [state, setState] = useState<PhoneState>('waiting');
  // biome-ignore lint/correctness/useExhaustiveDependencies: of one secret
  useEffect(() => {
    if (secret !== null) void codeOf(link, secret, origin).then(setCode);
  }, [secret]);
  const ask = async () => {
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
  };
  useAskedAgain(secret, ask, { everyMs: ASK_MS[state], rests: true });
  return { code, state };
};

const Failed = ({ phone }: { phone: Phone | null }) =>
  phone?.state === 'failed' ? <Notice tone="bad">{TEXTS.phoneFailed}</Notice> : null;

/** On a computer: the code that a phone scans, which opens its wallet, or this page in it. */
export const ByPhone = ({ payable: { phone, address, addressAbout } }: { payable: Payable }) => {
  const code = phone === null ? address : phone.code;
  return (
    <Section title={TEXTS.phone} about={phone === null ? addressAbout : TEXTS.phoneWallet}>
      <Stack>
        {code === null ? <Loading>{TEXTS.reading}</Loading> : <QrCode text={code} label={TEXTS.phone} />}
        <Failed phone={phone} />
      </Stack>
    </Section>
  );
};

/** On the phone itself: the link that opens its wallet, and this page in the wallet's browser. */
export const ByApp = ({ payable: { phone, address, claims } }: { payable: Payable }) => (
  <Section title={TEXTS.app} about={TEXTS.appAbout}>
    <Stack>
      <Failed phone={phone} />
      {phone?.code != null && (
        <>
          <LinkOut to={phone.code} variant="primary">
            {TEXTS.appPay(displayUsdc(claims.quote_amount))}
          </LinkOut>
          <p>{TEXTS.appBack}</p>
        </>
      )}
      <p>{phone === null ? TEXTS.appBrowseOnly : TEXTS.appBrowse}</p>
      <Row>
        {WALLET_APPS.map(({ name, browse }) => (
          <LinkOut key={name} to={browse(address)} variant={phone === null ? 'primary' : 'plain'}>
            {TEXTS.openIn(name)}
          </LinkOut>
        ))}
      </Row>
      <Install about={TEXTS.appInstall} />
    </Stack>
  </Section>
);
