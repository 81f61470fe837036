/** What an operator did wrong, or is told instead of a change: said as it is, without a stack trace. */
export class Refusal extends Error {
  override name = 'Refusal';
}
