/** Copies the Markdown of a page, for a language model or a note. */
customElements.define(
  'copy-page',
  class extends HTMLElement {
    connectedCallback(): void {
      const button = this.querySelector('button')!;
      button.hidden = false;
      const show = (text: string): void => {
        button.textContent = text;
        setTimeout(() => {
          button.textContent = 'Copy page';
        }, 2000);
      };
      button.addEventListener('click', async () => {
        try {
          const answer = await fetch(this.dataset.markdown!);
          if (!answer.ok) throw new Error(`status ${answer.status}`);
          await navigator.clipboard.writeText(await answer.text());
          show('Copied');
        } catch {
          show('Not copied: use Markdown');
        }
      });
    }
  },
);
