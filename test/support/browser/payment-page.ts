/**
 * A provider's payment page as a browser without scripts uses it: hidden fields, a button,
 * redirects, no cookies.
 */
type PaymentPage = { url: string; status: number; html: string };

const read = async (response: Response): Promise<PaymentPage> => ({
  url: response.url,
  status: response.status,
  html: await response.text(),
});

const plain = (html: string) =>
  html.replace(/&#(\d+);/g, (_match, code: string) => String.fromCharCode(Number(code)));

export const openPage = async (url: string): Promise<PaymentPage> => read(await fetch(url));

/** Sends the page's form with its hidden fields and the person's input. */
export const submitPage = async (
  { url, html }: PaymentPage,
  chosen: Record<string, string>,
): Promise<PaymentPage> => {
  const action = /<form method="post" action="([^"]*)"/.exec(html)?.[1];
  if (action === undefined) throw new Error(`the page has no form: ${html}`);
  const hidden = [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)].map(
    ([, name, value]) => [plain(name!), plain(value!)] as const,
  );
  const shown = [...html.matchAll(/<input type="text" name="([^"]*)" value="([^"]*)"/g)].map(
    ([, name, value]) => [plain(name!), plain(value!)] as const,
  );
  const body = new URLSearchParams(Object.fromEntries([...hidden, ...shown, ...Object.entries(chosen)]));
  return read(await fetch(new URL(plain(action), url), { method: 'POST', body }));
};
