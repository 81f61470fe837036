import { useState } from 'react';

/** Whether this account has hidden the getting-started list in this browser. */

const keyOf = (accountId: string) => `quittance.getting-started.hidden.${accountId}`;

export const useHidden = (accountId: string): [isHidden: boolean, setHidden: (hidden: boolean) => void] => {
  const [isHidden, setHidden] = useState(() => localStorage.getItem(keyOf(accountId)) === 'yes');
  return [
    isHidden,
    (hidden) => {
      if (hidden) localStorage.setItem(keyOf(accountId), 'yes');
      else localStorage.removeItem(keyOf(accountId));
      setHidden(hidden);
    },
  ];
};
