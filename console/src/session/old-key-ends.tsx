import { Time } from '../ui/show.tsx';

/** What became of the key that a new one replaces. `at`: the end of its grace period, or null. */
export const OldKeyEnds = ({ at }: { at: string | null }) => (
  <p className="quiet">
    {at !== null && new Date(at) > new Date() ? (
      <>
        The previous key works until <Time at={at} />.
      </>
    ) : (
      'The old key is revoked.'
    )}
  </p>
);
