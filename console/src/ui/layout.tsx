import { type ReactNode, useEffect, useId, useState } from 'react';

/** How a page is put together: `Page` around `Section`s. */

/** A page: its title, also the window's, one sentence about it, and what can be done on it (buttons). */
export const Page = ({
  title,
  about,
  actions,
  children,
}: {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) => {
  useEffect(() => {
    document.title = `${title} · Quittance`;
  }, [title]);
  return (
    <div className="stack">
      <div className="page-head">
        <div>
          <h1>{title}</h1>
          {about !== undefined && <p>{about}</p>}
        </div>
        {actions !== undefined && <div className="row">{actions}</div>}
      </div>
      {children}
    </div>
  );
};

/** A card with a heading. `about` says what it is for, where the heading does not. */
export const Section = ({
  title,
  about,
  actions,
  children,
}: {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) => {
  const id = useId();
  return (
    <section className="section" aria-labelledby={id}>
      <div className="section-head">
        <h2 id={id}>{title}</h2>
        {actions !== undefined && <div className="row">{actions}</div>}
        {about !== undefined && <p className="quiet">{about}</p>}
      </div>
      {children}
    </section>
  );
};

/** Things one below the other; `Row` beside each other; `Columns` as many beside each other as fit. */
export const Stack = ({ children }: { children: ReactNode }) => <div className="stack">{children}</div>;
export const Row = ({ children }: { children: ReactNode }) => <div className="row">{children}</div>;
export const Columns = ({ children }: { children: ReactNode }) => <div className="columns">{children}</div>;

/** Names and values of one thing. Values that are null or false are left out with their names. */
export const Properties = ({ of }: { of: readonly (readonly [name: string, value: ReactNode])[] }) => (
  <dl className="properties">
    {of
      .filter(([, value]) => value !== null && value !== false && value !== undefined)
      .map(([name, value]) => (
        <Property key={name} name={name} value={value} />
      ))}
  </dl>
);
const Property = ({ name, value }: { name: string; value: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </>
);

/** Where there is nothing yet: what would be here, and how it comes here. */
export const Empty = ({ title, children }: { title: string; children?: ReactNode }) => (
  <div className="empty">
    <strong>{title}</strong>
    {children}
  </div>
);

/** A service that does not answer is asked again for some 25 s (sdk): after so many, whoever waits is told. */
const LONG_MS = 6000;

/** What is awaited, in words: "Asking for your wallets…". */
export const Loading = ({ children }: { children: string }) => {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), LONG_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p className="loading" role="status">
      {children}
      {isLong && ' This takes longer than it should; it is being asked again.'}
    </p>
  );
};
