import { useEffect, useState } from 'react';

/** The time of this device in milliseconds, shown anew every second (or as said) while the page is seen. */
export const useNow = (everyMs = 1000): number => {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
};
