import type { ReactNode } from 'react';

/** One main figure in a card. */
export const Figure = ({
  label,
  children,
  note,
}: {
  label: string;
  children: ReactNode;
  note?: ReactNode;
}) => (
  <div className="figure-card">
    <span className="quiet">{label}</span>
    {children}
    {note !== undefined && <span className="quiet">{note}</span>}
  </div>
);
