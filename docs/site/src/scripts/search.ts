/**
 * The search over every section of every page. It loads its texts when it is opened first, and
 * makes its results of elements and text only, because the policy of the pages forbids markup.
 */
import {
  createSearchIndex,
  type Found,
  findSections,
  type SearchIndex,
  type Section,
} from './search-index.ts';

const MAX_RESULTS = 20;
const EXCERPT = 150;

const load = async (): Promise<SearchIndex> => {
  const answer = await fetch('/docs/search.json');
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return createSearchIndex((await answer.json()) as Section[]);
};

/** The text around the first term that was found, with the terms marked. */
const excerpt = ({ text, terms }: Found): DocumentFragment => {
  const places = terms.map((term) => text.toLowerCase().indexOf(term)).filter((at) => at >= 0);
  const from = Math.max(0, Math.min(...places, text.length) - 40);
  const start = places.length === 0 ? 0 : from;
  const part = text.slice(start, start + EXCERPT);
  const shown = document.createDocumentFragment();
  const pattern = new RegExp(
    `(${terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`,
    'i',
  );
  const pieces = terms.length === 0 ? [part] : part.split(pattern);
  for (const [index, piece] of pieces.entries()) {
    if (index % 2 === 0) shown.append(piece);
    else shown.append(Object.assign(document.createElement('mark'), { textContent: piece }));
  }
  return shown;
};

const option = (found: Found, index: number): HTMLAnchorElement => {
  const link = document.createElement('a');
  link.id = `search-result-${index}`;
  link.href = found.url;
  link.tabIndex = -1;
  link.setAttribute('role', 'option');
  const page = Object.assign(document.createElement('small'), { textContent: found.page });
  const title = Object.assign(document.createElement('strong'), { textContent: found.title });
  const text = document.createElement('span');
  text.append(excerpt(found));
  link.append(page, title, text);
  return link;
};

class SiteSearch extends HTMLElement {
  #search: Promise<SearchIndex> | undefined;

  connectedCallback(): void {
    const opener = this.querySelector<HTMLButtonElement>('button[data-open]')!;
    const dialog = this.querySelector('dialog')!;
    const input = this.querySelector('input')!;
    opener.disabled = false;
    if (/Mac|iPhone|iPad/.test(navigator.userAgent)) {
      this.querySelector('kbd')!.textContent = '⌘ K';
      opener.setAttribute('aria-keyshortcuts', 'Meta+K');
    }
    const open = (): void => {
      dialog.showModal();
      input.select();
      this.#search ??= load();
    };
    opener.addEventListener('click', open);
    document.addEventListener('keydown', (event) => {
      const isTyping = event.target instanceof HTMLElement && event.target.closest('input, textarea, select');
      const isShortcut =
        ((event.ctrlKey || event.metaKey) && event.key === 'k') || (event.key === '/' && !isTyping);
      if (!isShortcut) return;
      event.preventDefault();
      if (dialog.open) dialog.close();
      else open();
    });
    // Outside of the dialog, and on a result, whose page may be this one.
    dialog.addEventListener('click', ({ target }) => {
      if (target === dialog || (target instanceof Element && target.closest('a'))) dialog.close();
    });
    input.addEventListener('input', () => void this.#show(input));
    input.addEventListener('keydown', (event) => this.#onKey(event, input));
  }

  async #show(input: HTMLInputElement): Promise<void> {
    const status = this.querySelector('[role="status"]')!;
    const list = this.querySelector('[role="listbox"]')!;
    const query = input.value.trim();
    let found: Found[] = [];
    try {
      this.#search ??= load();
      const search = await this.#search;
      // Another letter may have been typed meanwhile.
      if (query !== input.value.trim()) return;
      found = findSections(search, query).slice(0, MAX_RESULTS);
      const count = found.length === 1 ? '1 result' : `${found.length} results`;
      status.textContent = query === '' ? '' : found.length === 0 ? `Nothing found for “${query}”` : count;
    } catch {
      this.#search = undefined;
      status.textContent = 'The search could not be loaded. Check your connection and type again.';
    }
    list.replaceChildren(...found.map(option));
    input.setAttribute('aria-expanded', String(found.length > 0));
    this.#select(input, 0);
  }

  #select(input: HTMLInputElement, at: number): void {
    const options = [...this.querySelectorAll<HTMLElement>('[role="option"]')];
    for (const [index, each] of options.entries()) each.setAttribute('aria-selected', String(index === at));
    const selected = options[at];
    if (selected === undefined) input.removeAttribute('aria-activedescendant');
    else input.setAttribute('aria-activedescendant', selected.id);
    selected?.scrollIntoView({ block: 'nearest' });
  }

  #onKey(event: KeyboardEvent, input: HTMLInputElement): void {
    // A search field would take the first Escape to become empty.
    if (event.key === 'Escape') this.querySelector('dialog')!.close();
    const options = [...this.querySelectorAll<HTMLElement>('[role="option"]')];
    const at = options.findIndex((each) => each.getAttribute('aria-selected') === 'true');
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key !== 'Enter' && step === undefined) return;
    event.preventDefault();
    if (event.key === 'Enter') options[at]?.click();
    else this.#select(input, (at + step! + options.length) % Math.max(1, options.length));
  }
}
customElements.define('site-search', SiteSearch);
