/** A page of the documentation, from which Starlight's content is written. */
export type Page = {
  /** Its address without the leading slash. Empty for the start page. */
  path: string;
  title: string;
  /** One sentence for search engines and lists. */
  description: string;
  /** What follows the title. */
  markdown: string;
  /** The file of the repository in which it is written, if it is written by hand. */
  source?: string;
  /** The deepest heading in "On this page". */
  depth?: number;
};
