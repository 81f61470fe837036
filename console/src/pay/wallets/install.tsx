import { WALLET_APPS } from './wallet-apps.ts';

/** Links to wallets that can be installed. They open beside the page, which keeps the order. */
export const Install = ({ about }: { about: string }) => (
  <p>
    {about}{' '}
    {WALLET_APPS.map(({ name, install }, at) => (
      <span key={name}>
        {at > 0 && ' · '}
        <a href={install} target="_blank" rel="noreferrer">
          {name}
        </a>
      </span>
    ))}
  </p>
);
