import type { ReactNode } from 'react';

/** The notice box. `tone` colours its edge; the text carries the same information. */
export const Notice = ({
  tone,
  title,
  children,
}: {
  tone?: 'good' | 'wait' | 'bad';
  title?: string;
  children?: ReactNode;
}) => (
  <div className="notice" data-tone={tone} role={tone === 'bad' ? 'alert' : 'note'}>
    {title !== undefined && <strong>{title}</strong>}
    {children !== undefined && <div>{children}</div>}
  </div>
);
