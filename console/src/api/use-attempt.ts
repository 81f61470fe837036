import { useState } from 'react';

/** Ways to sign in. One runs at a time, and its error is shown until the next begins. */
type How = 'passkey' | 'mail';

export const useAttempt = () => {
  const [busy, setBusy] = useState<How | null>(null);
  const [error, setError] = useState<unknown>(null);
  const attempt = async (how: How, work: () => Promise<unknown>) => {
    setBusy(how);
    setError(null);
    try {
      await work();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(null);
    }
  };
  return { busy, error, attempt };
};
