/** Of what was bought, as many characters as a row has room for. */
const SHOWN = 40;

/** What was bought, in a row of a list. The pointer shows the whole text. */
export const Item = ({ text }: { text: string }) => (
  <div className="quiet" title={text}>
    <bdi>{text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}</bdi>
  </div>
);
