import { type ReactNode, useEffect, useId, useState } from 'react';

/** The structure of a page: `Page` around `Section`s. */

/** A page: its title, which is also the window's, one sentence about it, and its buttons. */
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

/** A card with a heading. `about` explains it if the heading does not suffice. */
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

/** `Stack` is a column, `Row` a row, `Columns` as many columns as fit. */
export const Stack = ({ children }: { children: ReactNode }) => <div className="stack">{children}</div>;
export const Row = ({ children }: { children: ReactNode }) => <div className="row">{children}</div>;
export const Columns = ({ children }: { children: ReactNode }) => <div className="columns">{children}</div>;

/** Names and values of one object. A null or false value is omitted together with its name. */
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

/** An empty state: what will appear here, and how it gets here. */
export const Empty = ({ title, children }: { title: string; children?: ReactNode }) => (
  <div className="empty">
    <strong>{title}</strong>
    {children}
  </div>
);

/** The SDK repeats a call for about 25 s. After this time the user gets a message. */
const LONG_MS = 6000;

/** A skeleton. Screen readers get what is being loaded: "Loading your wallets…". */
export const Loading = ({ children }: { children: string }) => {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), LONG_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="loading">
      <p role="status" className={isLong ? undefined : 'visually-hidden'}>
        {children}
        {isLong && ' This takes longer than expected. Retrying.'}
      </p>
      <div className="skeleton" aria-hidden="true">
        <span />
        <span />
        <span />
      </div>
    </div>
  );
};
