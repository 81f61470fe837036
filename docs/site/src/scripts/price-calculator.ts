/** The calculator of the guide about prices. Without this script a table of examples is shown. */
import { microOf, typedFault } from '../../../../sdk/src/amounts.ts';
import { formatUsdc } from '../../../../sdk/src/generated/usdc.ts';
import type { FeeRule } from '../../../../shared/lib/money/fee.ts';
import { bestOf, type Way, waysOf } from './price-ways.ts';

const ruleOf = (text: string): FeeRule => {
  const [bps, minMicro] = text.split(',').map(BigInt) as [bigint, bigint];
  return { bps, minMicro };
};

const element = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  of: { text?: string; class?: string } = {},
  ...children: Node[]
): HTMLElementTagNameMap[Name] => {
  const made = document.createElement(name);
  if (of.text !== undefined) made.textContent = of.text;
  if (of.class !== undefined) made.className = of.class;
  made.append(...children);
  return made;
};

const field = (
  label: string,
  value: string,
  unit: string,
): { label: HTMLElement; input: HTMLInputElement } => {
  const input = element('input');
  input.value = value;
  input.inputMode = 'decimal';
  input.autocomplete = 'off';
  return {
    input,
    label: element('label', {}, element('span', { text: label }), input, element('small', { text: unit })),
  };
};

/** A number of calls or buyers. Null: it is none. */
const countOf = (text: string): bigint | null => {
  const digits = text.replace(/[ ,_]/g, '');
  return /^[1-9][0-9]{0,11}$/.test(digits) ? BigInt(digits) : null;
};

const HEADS = ['Payments', 'Fees, USDC', 'You keep, USDC'];

const row = (way: Way, grossMicro: bigint, isBest: boolean): HTMLTableRowElement => {
  const { name, netMicro, note, code, payments, feeMicro } = way;
  const head = element('th', {}, element('strong', { text: name }));
  head.scope = 'row';
  if (isBest) head.append(element('em', { text: 'most is left' }));
  if (note !== '') head.append(element('small', { text: note }));
  if (netMicro !== null) head.append(element('code', { text: code }));
  const share = netMicro === null ? 0 : Number((netMicro * 1000n) / grossMicro) / 10;
  const figures =
    netMicro === null
      ? ['–', '–', '–']
      : [payments.toLocaleString('en'), formatUsdc(feeMicro), `${formatUsdc(netMicro)} (${share} %)`];
  const cells = figures.map((text, index) => {
    const cell = element('td', { text });
    cell.dataset.name = HEADS[index]!;
    return cell;
  });
  return element('tr', netMicro === null ? { class: 'impossible' } : {}, head, ...cells);
};

customElements.define(
  'price-calculator',
  class extends HTMLElement {
    connectedCallback(): void {
      const fees = { quote: ruleOf(this.dataset.quote!), x402: ruleOf(this.dataset.x402!) };
      const price = field('Price of a call', '0.05', 'USDC');
      const calls = field('Calls a month', '10,000', 'calls');
      const buyers = field('Buyers', '10', 'buyers');
      const fields = [price, calls, buyers];
      const status = element('p');
      status.setAttribute('role', 'status');
      const body = element('tbody');
      const heads = ['Paid by', ...HEADS].map((text) => element('th', { text }));
      const shown = element(
        'div',
        { class: 'wide' },
        element('table', {}, element('thead', {}, element('tr', {}, ...heads)), body),
      );
      shown.tabIndex = 0;
      const faultOf = (): string | null => {
        const typed = price.input.value.trim();
        const fault = typedFault(/^[0-9]+$/.test(typed) ? `$${typed}` : typed);
        if (fault !== null) return `Price: ${fault}.`;
        return countOf(calls.input.value) === null || countOf(buyers.input.value) === null
          ? 'Calls and buyers are whole numbers, like 10,000.'
          : null;
      };
      const show = (): void => {
        const fault = faultOf();
        status.textContent = fault ?? '';
        shown.hidden = fault !== null;
        if (fault !== null) return;
        const typed = price.input.value.trim();
        const priceMicro = microOf(/^[0-9]+$/.test(typed) ? `$${typed}` : typed);
        const sales = {
          priceMicro,
          calls: countOf(calls.input.value)!,
          buyers: countOf(buyers.input.value)!,
        };
        const ways = waysOf(sales, fees);
        const best = bestOf(ways);
        const gross = priceMicro * sales.calls;
        body.replaceChildren(...ways.map((way) => row(way, gross, way === best)));
        status.textContent = `${formatUsdc(gross)} USDC of sales. ${
          best === null ? 'No way pays for this price and so few calls.' : `Most is left by: ${best.name}.`
        }`;
      };
      for (const { input } of fields) input.addEventListener('input', show);
      this.replaceChildren(
        element('div', { class: 'fields' }, ...fields.map(({ label }) => label)),
        status,
        shown,
      );
      show();
    }
  },
);
