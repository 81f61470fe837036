/** Requests and answers as text, with secrets masked. */

export type Exchanged = {
  method: string;
  url: string;
  /** As sent, with names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: string | null;
  /** Null if no answer came. */
  answer: { status: number; headers: Readonly<Record<string, string>>; body: string } | null;
};
/** Secrets that must not be shown, each with the variable that replaces it. */
export type Secrets = ReadonlyMap<string, string>;

/** The headers that matter for the exchange. The rest concerns browsers and caches. */
const SHOWN_STATUS =
  /^(content-type|cache-control|retry-after|idempotent-replayed|x-(payment|settlement|request)-.*)$/;

const cover = (text: string, secrets: Secrets, as: (name: string) => string): string => {
  let covered = text;
  for (const [secret, name] of secrets) if (secret !== '') covered = covered.replaceAll(secret, as(name));
  return covered;
};
const shown = (text: string, secrets: Secrets): string => cover(text, secrets, (name) => `$${name}`);

const readable = (body: string): string => {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
};
const lines = (first: string, headers: Readonly<Record<string, string>>, body: string | null): string => {
  const named = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [first, ...named, ...(body === null || body === '' ? [] : ['', readable(body)])].join('\n');
};

/** The request as it was sent, with formatted JSON. */
export const requestText = ({ method, url, headers, body }: Exchanged, secrets: Secrets): string =>
  shown(lines(`${method} ${url}`, headers, body), secrets);

/** The answer with the relevant headers. */
export const answerText = ({ answer }: Exchanged, secrets: Secrets): string => {
  if (answer === null) return 'no answer came';
  const shownHeaders = Object.fromEntries(
    Object.entries(answer.headers).filter(([name]) => SHOWN_STATUS.test(name)),
  );
  return shown(lines(String(answer.status), shownHeaders, answer.body), secrets);
};

/** The request for a shell. Secrets are variables, which the reader sets. */
export const curlText = ({ method, url, headers, body }: Exchanged, secrets: Secrets): string => {
  // Quoted first, because a variable must be outside the quotes.
  const quoted = (text: string) =>
    cover(`'${text.replaceAll("'", `'\\''`)}'`, secrets, (name) => `'"$${name}"'`);
  const parts = [
    `curl -i -X ${method} ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`--data ${quoted(body)}`]),
  ];
  return parts.join(' \\\n  ');
};
