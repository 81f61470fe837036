import { useEffect, useState } from 'react';
import { session } from '../session/store.ts';
import { Loading, Stack } from '../ui/layout.tsx';
import { Notice } from '../ui/notice.tsx';
import { QrCode } from '../ui/qr.tsx';
import type { LinkAddress } from './link.ts';
import { codeOf, followPhone, forgetSecret, secretOf } from './phone.ts';
import { TEXTS } from './texts.ts';

const AGAIN_MS = 2000;

type Paid = { settlementId: string; receiptUrl: string | null };
type State = 'waiting' | 'pending' | 'failed';

/** What became of the code, asked every two seconds until it is paid. */
const useFollowed = (link: LinkAddress, secret: string, onPaid: (paid: Paid) => void): State => {
  const [state, setState] = useState<State>('waiting');
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows one code
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const ask = async (): Promise<void> => {
      const now = await followPhone(session.get().client, link, secret);
      if (isOver) return;
      if (now?.status === 'confirmed') {
        forgetSecret(link);
        onPaid({ settlementId: now.settlement_id, receiptUrl: now.receipt_url });
        return;
      }
      if (now !== null) setState(now.status);
      timer = setTimeout(() => void ask(), AGAIN_MS);
    };
    void ask();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [secret]);
  return state;
};

type Props = { link: LinkAddress; origin: string; onPaid: (paid: Paid) => void };

/** The code that the wallet of a phone scans, and what became of it. */
export const ByPhone = ({ link, origin, onPaid }: Props) => {
  const [secret] = useState(() => secretOf(link));
  const [code, setCode] = useState<string | null>(null);
  const state = useFollowed(link, secret, onPaid);
  // biome-ignore lint/correctness/useExhaustiveDependencies: of one secret
  useEffect(() => {
    void codeOf(link, secret, origin).then(setCode);
  }, [secret]);
  return (
    <Stack>
      <p>{TEXTS.phoneWallet}</p>
      {code === null ? <Loading>{TEXTS.reading}</Loading> : <QrCode text={code} label={TEXTS.phone} />}
      {state === 'pending' && <Notice tone="wait">{TEXTS.phonePending}</Notice>}
      {state === 'failed' && <Notice tone="bad">{TEXTS.phoneFailed}</Notice>}
    </Stack>
  );
};
