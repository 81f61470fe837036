/**
 * Shows one of several samples of a call, by their names. Without this script all of them are
 * shown. A choice counts for all samples, and is remembered.
 */
const KEY = 'docs-language';
const CHOSEN = 'docs-language-chosen';
let count = 0;

customElements.define(
  'code-tabs',
  class extends HTMLElement {
    connectedCallback(): void {
      const panels = [...this.querySelectorAll<HTMLElement>(':scope > .expressive-code')];
      const names = this.dataset.names!.split(',');
      const list = document.createElement('div');
      list.setAttribute('role', 'tablist');
      list.setAttribute('aria-label', 'Language');
      count += 1;
      const tabs = names.map((name, index) => {
        const tab = document.createElement('button');
        tab.type = 'button';
        tab.textContent = name;
        tab.id = `tab-${count}-${index}`;
        tab.setAttribute('role', 'tab');
        tab.setAttribute('aria-controls', `panel-${count}-${index}`);
        tab.addEventListener('click', () => choose(name));
        return tab;
      });
      list.append(...tabs);
      list.addEventListener('keydown', ({ key }) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
        if (step === undefined) return;
        const at = tabs.findIndex((tab) => tab.getAttribute('aria-selected') === 'true');
        const next = tabs[(at + step + tabs.length) % tabs.length]!;
        next.click();
        next.focus();
      });
      for (const [index, panel] of panels.entries()) {
        panel.id = `panel-${count}-${index}`;
        panel.setAttribute('role', 'tabpanel');
        panel.setAttribute('aria-labelledby', tabs[index]!.id);
      }
      const show = (wanted: string | null): void => {
        const at = Math.max(0, names.indexOf(wanted ?? ''));
        for (const [index, panel] of panels.entries()) {
          panel.hidden = index !== at;
          tabs[index]!.setAttribute('aria-selected', String(index === at));
          tabs[index]!.tabIndex = index === at ? 0 : -1;
        }
      };
      this.prepend(list);
      show(localStorage.getItem(KEY));
      document.addEventListener(CHOSEN, () => show(localStorage.getItem(KEY)));
    }
  },
);

const choose = (name: string): void => {
  localStorage.setItem(KEY, name);
  document.dispatchEvent(new Event(CHOSEN));
};
