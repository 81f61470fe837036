import { QrCode } from '../ui/qr.tsx';
import { TEXTS } from './texts.ts';

/** The code of an address, which the browser of a wallet opens. */
export const OpenOnPhone = ({ address, about }: { address: string; about: string }) => (
  <>
    <p>{about}</p>
    <QrCode text={address} label={TEXTS.phone} />
  </>
);
